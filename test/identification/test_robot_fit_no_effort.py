"""Test identification where joints move without a usable effort."""

import numpy as np
import pytest
from support.heavier_arm import other_values
from support.heavier_arm import recorded as prepared_motion
from support.recorded_arm import THREE_JOINTS, heavier, recorded

from dynamics_node import DynamicsError, Robot
from dynamics_node.identification import identify_recording, joint_side, read_csv
from dynamics_node.identification.parameters import parameter_layout
from dynamics_node.identification.recording_files import read_recording
from dynamics_node.identification.robot_fit import identify

NOISE = 0.05    # [N m]
MEASURED = ('shoulder', 'wrist')


@pytest.fixture(scope='module')
def arm(kernels):
    return Robot.from_urdf(THREE_JOINTS)


@pytest.fixture(scope='module')
def raw(arm):
    """A recording of another arm of this kind, the effort of its elbow unknown."""
    other, _ = heavier(arm)
    return joint_side(arm, recorded(other, 30.0, 1, NOISE), {'elbow': float('nan')})


@pytest.fixture(scope='module')
def done(arm, raw):
    return identify_recording(arm, raw)


def test_the_torques_of_the_other_joints_are_identified(arm, done):
    """On another motion, within the noise; before, the error was at least ten times as great."""
    other, _ = heavier(arm)
    unseen = prepared_motion(other, parameter_layout(other), other_values(other, parameter_layout(
        other), 1) * 0.0, 10, 5)
    truth = other.inverse_dynamics(unseen.q, unseen.v, unseen.a)
    errors, before = (np.abs(tau - truth).max(axis=0) for tau in (
        done.result.predict(unseen.q, unseen.v, unseen.a),
        arm.inverse_dynamics(unseen.q, unseen.v, unseen.a)))
    assert (errors < NOISE)[[0, 2]].all(), errors
    assert (before > 10.0 * NOISE)[[0, 2]].all()
    assert done.result.rows == MEASURED and len(done.result.verdict.error) == 2
    assert done.result.verdict.success


def test_true_parameters_are_within_their_deviations(arm, done):
    """Base parameters of the two measured joints, of which the elbow's motion is a part."""
    _, values = heavier(arm)
    found = done.result
    z = (found.base_values - found.base.values(values)) / found.base_spread.sigma
    assert np.sqrt(np.mean(z ** 2)) < 2.0
    assert not any(name.startswith('elbow.') for name in found.base.names)


def test_friction_of_the_joint_itself_stays_as_in_the_urdf(done):
    """The report says so; its standard deviation is not small."""
    found, layout = done.result, done.result.layout
    own = layout.of_joint(1)
    np.testing.assert_array_equal(found.values[own], found.before[own])
    assert not found.spread.determined[own].any() and (found.spread.sigma[own] > 0.1).all()
    assert any('no sample has the effort of elbow' in text for text in done.warnings)


def test_the_motion_of_the_joint_counts(arm, raw):
    """If the elbow were taken as at rest, the other torques would not be explained."""
    q = raw.q.copy()
    q[:, 1] = 1e-3 * q[:, 1] + q[:, 1].mean()
    with pytest.raises(DynamicsError, match="joint 'elbow' did not move"):
        identify_recording(arm, raw._replace(q=q))


def test_a_table_without_the_column_is_the_same(arm, raw, done, tmp_path):
    """An absent column, or one of nan."""
    names = ('shoulder', 'elbow', 'wrist')
    for efforts in (('shoulder', 'wrist'), names):
        columns = [raw.time, *raw.q.T, *(raw.tau[:, names.index(name)] for name in efforts)]
        header = ['time', *(f'position_{name}' for name in names),
                  *(f'effort_{name}' for name in efforts)]
        path = tmp_path / f'{len(efforts)}.csv'
        path.write_text('\n'.join([','.join(header), *(
            ','.join(map(repr, row)) for row in np.column_stack(columns).tolist())]))
        found = identify_recording(arm, read_recording(path)).result
        np.testing.assert_array_equal(found.values, done.result.values)
    assert read_csv(path).joint_names == names


def test_what_no_effort_can_tell_is_refused(arm, raw):
    """No effort at all; a validation that lacks one; a recording of a payload."""
    silent = joint_side(arm, raw, dict.fromkeys(raw.joint_names, float('nan')))
    with pytest.raises(DynamicsError, match='no sample has the effort of joints'):
        identify_recording(arm, silent)
    layout = parameter_layout(arm)
    whole = prepared_motion(arm, layout, other_values(arm, layout, 1), 2000, 2, 0.1)
    with pytest.raises(DynamicsError, match='the validation has no effort of wrist'):
        identify(arm, whole, validation=whole._replace(no_effort=('wrist',)))
