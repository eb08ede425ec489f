"""Test the gains of drives from motions without and with a known payload."""

import numpy as np
import pytest
from support.recorded_arm import THREE_JOINTS, heavier, recorded

from dynamics_node import DynamicsError, Robot
from dynamics_node.identification import joint_side
from dynamics_node.identification.drive_gains import estimate_gains
from dynamics_node.identification.recording_fit import identify_recording

TRUE = np.array([1.12, 0.9, 1.05])   # torque over recorded effort
LOAD = 'load', 'wrist_link', 2.805, (0.05, 0.1, 0.15)
NOISE = 0.05                         # [N m]


@pytest.fixture(scope='module')
def arm(kernels):
    return Robot.from_urdf(THREE_JOINTS)


def efforts(robot, seed):
    """Return the recording of a robot whose efforts are torques / gains."""
    raw = recorded(robot, 30.0, seed, NOISE)
    return raw._replace(tau=raw.tau / TRUE)


@pytest.fixture(scope='module')
def motions(arm):
    """Without and with the payload, of an arm with other masses than the URDF."""
    other, _ = heavier(arm)
    return efforts(other, 1), efforts(other.with_payload(*LOAD), 2)


@pytest.fixture(scope='module')
def gains(arm, motions):
    return estimate_gains(arm, motions[0], arm.with_payload(*LOAD), motions[1])


def test_gains_are_within_their_deviations(gains):
    z = (gains.values - TRUE) / gains.sigma
    assert (np.abs(z) < 4.0).all(), (gains.values, gains.sigma)
    assert (gains.sigma < 0.03).all() and (gains.sigma > 1e-5).all()
    assert gains.names == ('shoulder', 'elbow', 'wrist')
    assert str(gains).startswith('gains of the drives: shoulder 1.1')


def test_deviations_are_those_of_repeated_recordings(arm):
    """RMS of z over four pairs of motions near 1: neither too small nor far too large."""
    other, _ = heavier(arm, seed=5)
    z = []
    for seed in range(10, 18, 2):
        found = estimate_gains(arm, efforts(other, seed), arm.with_payload(*LOAD),
                               efforts(other.with_payload(*LOAD), seed + 1))
        z.append((found.values - TRUE) / found.sigma)
    assert 0.3 < np.sqrt(np.mean(np.square(z))) < 2.0, z


def test_masses_are_right_with_the_gains(arm, motions, gains):
    """A body that torques tell; with the recorded efforts it is off by about the gain."""
    _, values = heavier(arm)
    right = identify_recording(arm, joint_side(arm, motions[0], gains.scales)).result
    wrong = identify_recording(arm, motions[0]).result
    truth = right.base.values(values)
    told = (right.base_spread.relative < 0.02) & (np.abs(truth) > 0.01)
    errors = [np.abs(found.base_values[told] / truth[told] - 1.0) for found in (right, wrong)]
    assert np.median(errors[0]) < 0.02 < 0.05 < np.median(errors[1])


@pytest.mark.parametrize('mass, frame, words', [
    (1e-3, 'wrist_link', 'the payload does not fix the gains of shoulder .*heavier payload'),
    (2.805, 'base', 'nothing fixes the scale of torques')])
def test_a_scale_that_nothing_fixes_is_refused(arm, motions, mass, frame, words):
    """A payload of a gram, or one on the base."""
    with pytest.raises(DynamicsError, match=words):
        estimate_gains(arm, motions[0], arm.with_payload('load', frame, mass), motions[0])


def test_an_effort_that_only_the_loaded_recording_lacks_is_refused(arm, motions):
    """Its gain would stay 1 beside those of other joints; without both efforts it has none."""
    silent = [joint_side(arm, each, {'elbow': float('nan')}) for each in motions]
    with pytest.raises(DynamicsError, match='with the payload has no effort of elbow'):
        estimate_gains(arm, motions[0], arm.with_payload(*LOAD), silent[1])
    found = estimate_gains(arm, silent[0], arm.with_payload(*LOAD), motions[1])
    assert found.names == ('shoulder', 'wrist')


def test_a_delay_of_efforts_is_corrected(arm, motions, gains):
    """Of 50 ms in the loaded motion: otherwise nothing would fix the gain of the wrist."""
    late = motions[1]._replace(tau=np.vstack([motions[1].tau[:1]] * 5 + [motions[1].tau[:-5]]))
    found = estimate_gains(arm, motions[0], arm.with_payload(*LOAD), late)
    assert any('loaded: efforts are' in text and 'late' in text for text in found.warnings)
    assert (np.abs(found.values - TRUE) < 4.0 * found.sigma).all()
    np.testing.assert_allclose(found.values, gains.values, atol=0.01)
