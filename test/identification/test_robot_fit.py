"""Test the identification of a robot from a recording, as a whole."""

import numpy as np
import pytest
from support.heavier_arm import other_values, recorded
from support.tiny_robots import chain
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import Robot
from dynamics_node.errors import DynamicsError
from dynamics_node.identification import robot_fit
from dynamics_node.identification.parameters import (
    offset_torque,
    parameter_layout,
    parameter_values,
)
from dynamics_node.identification.pseudo_inertia import is_consistent
from dynamics_node.identification.robot_fit import IdentificationOptions, identify

NOISE = 0.1   # [N m]


@pytest.fixture
def truth(fast_arm, layout):
    return other_values(fast_arm, layout, seed=1)


@pytest.fixture
def recording(fast_arm, layout, truth):
    return recorded(fast_arm, layout, truth, 3000, 2, NOISE)


class Stopped(Exception):
    pass


def test_thirty_seconds_of_motion_identify_an_arm(fast_arm, layout, truth, recording):
    """Torques of another motion ten times better, 95 % within three sigma, every link possible."""
    found = identify(fast_arm, recording)
    other = recorded(fast_arm, layout, truth, 500, 77)
    before, after = (np.sqrt(np.mean((other.tau - tau) ** 2)) for tau in (
        fast_arm.inverse_dynamics(other.q, other.v, other.a),
        found.predict(other.q, other.v, other.a)))
    assert after < 0.1 * before
    errors = np.abs(found.base_values - found.base.values(truth))
    assert np.mean(errors < 3.0 * found.base_spread.sigma) >= 0.95
    assert all(is_consistent(found.values[layout.of_body(i)]) for i in range(7))
    assert found.noise.sigma == pytest.approx(NOISE, rel=0.1)
    assert found.residuals.validation_after == pytest.approx(NOISE, rel=0.2)
    assert found.residuals.gain > 5.0   # the noise stays


def test_the_robot_found_has_the_parameters_found(fast_arm, layout, recording):
    """A prediction is ID of the robot + offsets and Stribeck terms, by the named parameters."""
    found = identify(fast_arm, recording)
    np.testing.assert_array_equal(
        parameter_values(found.robot, layout)[:layout.inertial], found.values[:layout.inertial])
    state = recording.q[:5], recording.v[:5], recording.a[:5]
    np.testing.assert_allclose(
        found.predict(*state), found.robot.inverse_dynamics(*state)
        + offset_torque(layout, found.values, state[1]), rtol=EXACT_MATHS)
    assert len(found.layout.names) == len(found.values) == len(found.spread.sigma)
    assert len(found.base.names) == len(found.base_values) == len(found.base_spread.sigma)


def test_unidentifiable_parameters_are_reported(fast_arm, recording):
    """The mass of the first link keeps the prior's deviation; viscous friction does not."""
    found = identify(fast_arm, recording)
    told = dict(zip(found.layout.names, found.spread.determined))
    assert not told['link_1.m'] and told['joint_1.viscous'] and told['link_4.mcx']


def test_the_order_of_joints_in_a_recording_does_not_matter(fast_arm, recording):
    order = [3, 1, 0, 2, 6, 5, 4]
    mixed = recording._replace(
        joint_names=tuple(recording.joint_names[k] for k in order),
        **{name: getattr(recording, name)[:, order] for name in ('q', 'v', 'a', 'tau')})
    np.testing.assert_allclose(identify(fast_arm, mixed).values,
                               identify(fast_arm, recording).values, atol=SOLVED)


def test_a_known_payload_is_not_identified_again(fast_arm, layout, truth):
    """The same bodies are found, and the payload stays on the robot."""
    loaded = fast_arm.with_payload('tool', 'link_7', 1.0, (0.0, 0.05, 0.1), 0.01 * np.eye(3))
    recording = recorded(loaded, layout, truth, 1500, 3)
    found = identify(loaded, recording)
    np.testing.assert_allclose(found.base_values, found.base.values(truth), atol=1e-6)
    assert found.robot.payloads == loaded.payloads


def test_stribecks_term_is_found_on_request(fast_arm):
    layout = parameter_layout(fast_arm, stribeck_speed=0.3)
    truth = other_values(fast_arm, layout, seed=1)
    truth[layout.each('stribeck')] = 0.8
    recording = recorded(fast_arm, layout, truth, 2000, 4, 0.01)
    found = identify(fast_arm, recording, IdentificationOptions(stribeck_speed=0.3))
    np.testing.assert_allclose(found.values[layout.each('stribeck')], 0.8, atol=0.02)


@pytest.mark.parametrize('method', ['weighted', 'robust'])
def test_progress_rises_to_one_and_may_stop_the_fit(fast_arm, recording, method):
    shares = []
    identify(fast_arm, recording, IdentificationOptions(method),
             lambda share, text: shares.append(share))
    assert shares == sorted(shares) and 0.0 <= shares[0] < shares[-1] == pytest.approx(1.0)

    def stop(share, text):
        if share > 0.3:
            raise Stopped(text)
    with pytest.raises(Stopped):
        identify(fast_arm, recording, progress=stop)


def test_decimation_leaves_enough_rows(fast_arm, recording):
    """Half a minute at 1 kHz of a slow motion would be decimated to nothing, and refused."""
    found = identify(fast_arm, recording, IdentificationOptions(decimation=125))
    assert found.residuals.gain > 5.0
    assert not np.array_equal(found.values, identify(fast_arm, recording).values)


def test_gaps_leave_enough_rows_too(fast_arm, recording):
    """A filter shortens each stretch: of 70 samples by 12 nothing is left."""
    pieces = recording.rows(np.arange(3000) % 75 < 70)
    found = identify(fast_arm, pieces, IdentificationOptions(decimation=12))
    assert (found.noise.effective > 0.2 * NOISE).all()   # not the rounding of an exact fit
    assert found.residuals.gain > 5.0


def test_a_poor_motion_is_warned_of(fast_arm, layout, truth):
    """Joints that hardly move: the undetermined parameters are named.

    With the law of the robot: the torques are those of the fast motion.
    """
    recording = recorded(fast_arm, layout, truth, 1500, 5, NOISE)
    lazy = recording._replace(q=recording.q * [1, 1, 1, 1, 1, 1, 1e-3],
                              v=recording.v * [1, 1, 1, 1, 1, 1, 1e-3],
                              a=recording.a * [1, 1, 1, 1, 1, 1, 1e-3])
    found = identify(fast_arm, lazy, IdentificationOptions(friction='plain'))
    motions = [motion for motion in found.proposal.motions if motion.joint == 'joint_7']
    assert 'joint_7.viscous' in {name for motion in motions for name in motion.parameters}
    assert all(str(motion) in found.missing_motion for motion in motions)
    warnings = ' '.join(found.warnings)
    assert 'hardly determine' in warnings and 'joint_7.viscous' in warnings


def _with(recording, name, column, value):
    array = getattr(recording, name).copy()
    array[:, column] = value
    return recording._replace(**{name: array})


@pytest.mark.parametrize('spoil, words', [
    (lambda r: r._replace(joint_names=('a', *r.joint_names[1:])), "lacks the joints .'joint_1'."),
    (lambda r: _with(r, 'tau', 2, np.nan), "tau of joint 'joint_3' is NaN at sample 0"),
    (lambda r: _with(r, 'q', 4, 0.5), 'joint_5 does not move'),
    (lambda r: _with(r, 'tau', 1, 3.0), 'joint_2 has a constant torque'),
    (lambda r: r._replace(tau=r.tau[:100]), r'tau of the recording has shape \(100, 7\); expected'),
    (lambda r: r._replace(a=r.a[:, :5]), r'a of the recording has shape \(3000, 5\); expected'),
    (lambda r: (r.time, r.q), 'recording is tuple; expected a Recording'),
    (lambda r: r.rows(slice(0, 100)), 'too few for 69 unknown parameters; record at least'),
])
def test_bad_recordings_are_refused_with_a_reason(fast_arm, recording, spoil, words):
    with pytest.raises(DynamicsError, match=words):
        identify(fast_arm, spoil(recording))


@pytest.mark.parametrize('options, words', [
    (IdentificationOptions(method='magic'), 'method .* expected one of ordinary, weighted, robust'),
    (IdentificationOptions(loss='cauchy'), 'loss .* expected one of huber, bisquare'),
    (IdentificationOptions(prior_weight=0.0), 'prior_weight'),
    (IdentificationOptions(validation_share=1.0), 'validation_share'),
    (IdentificationOptions(decimation=0), 'decimation'),
    (IdentificationOptions(stribeck_speed=-1.0), 'stribeck_speed')])
def test_bad_options_are_refused_by_name(fast_arm, recording, options, words):
    """At once: nothing is computed before."""
    reports = []
    with pytest.raises(DynamicsError, match=words):
        identify(fast_arm, recording, options, progress=lambda *report: reports.append(report))
    assert reports == []


def test_a_mass_that_the_data_do_not_determine_stays_near_the_urdf(monkeypatch):
    """Moments of a pendulum are a quarter of the URDF's, its mass is right; torques hide it."""
    robot = Robot.from_urdf(chain(('shoulder', 'revolute')), compile=False)
    layout = parameter_layout(robot)
    values, mass = parameter_values(robot, layout), layout.of_body(0).start
    truth = values.copy()
    truth[mass + 1:mass + 10] *= 0.25
    recording = recorded(robot, layout, truth, 2000, 3, 0.01)
    kept = identify(robot, recording)
    monkeypatch.setattr(robot_fit, 'MASSES', np.inf)
    moved = identify(robot, recording)
    assert not kept.spread.determined[mass]
    assert 0.75 < kept.values[mass] / values[mass] < 1.25
    assert moved.values[mass] < 0.75 * values[mass]   # it shrinks with the moments
    np.testing.assert_allclose(kept.verdict.error, moved.verdict.error, rtol=0.01)
