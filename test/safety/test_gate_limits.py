"""Test the limits and settings of the gate: URDF, user, and derived numbers."""

import numpy as np
import pytest
from support.safe_arm import (
    EFFORT,
    HOME,
    LIMITS,
    LOWER,
    NAMES,
    ROBOT,
    UPPER,
    VELOCITY,
    gate_limits,
    robot,
    urdf,
)

from dynamics_node import DynamicsError, Robot
from dynamics_node.errors import UnknownName
from dynamics_node.safety import Gate, Measured, Proposal, SafetySettings, gate_limits_of, limits_of


def test_limits_are_those_of_the_urdf():
    """In the order of v."""
    assert LIMITS.names == NAMES and LIMITS.nq == LIMITS.nv == 3
    for limit, expected in ((LIMITS.effort, EFFORT), (LIMITS.velocity, VELOCITY),
                            (LIMITS.lower, LOWER), (LIMITS.upper, UPPER)):
        assert np.array_equal(limit, expected)
    assert LIMITS.driven.all() and np.array_equal(LIMITS.turning, [False, True, False])
    assert np.isnan(LIMITS.slew).all()


def test_zero_in_a_urdf_is_unknown():
    """Not a limit of zero; a missing limit is unknown too."""
    limits = limits_of(robot(efforts=np.array([np.nan, 5.0, 1e12]),
                             velocities=np.array([np.nan, 1.0, 1.0])))
    assert np.array_equal(np.isnan(limits.effort), [True, False, True])
    assert np.array_equal(np.isnan(limits.velocity), [True, False, False])


def test_limits_of_the_user_replace_those_of_the_urdf():
    """By name, one joint at a time; the robot itself is unchanged."""
    limits = limits_of(ROBOT, effort={'elbow': 3}, velocity={'slide': 0.5}, slew={'elbow': 100.0},
                       position={'shoulder': (-1.0, 0.5)})
    assert np.array_equal(limits.effort, [EFFORT[0], 3.0, EFFORT[2]])
    assert np.array_equal(limits.velocity, [VELOCITY[0], VELOCITY[1], 0.5])
    assert limits.lower[0] == -1.0 and limits.upper[0] == 0.5 and limits.lower[2] == LOWER[2]
    enforced = gate_limits_of(limits)
    assert np.array_equal(enforced.slew, [EFFORT[0] / 0.1, 100.0, EFFORT[2] / 0.1])
    assert np.array_equal(LIMITS.effort, EFFORT)


@pytest.mark.parametrize('wrong', [
    {'effort': {'wrist': 3.0}}, {'slew': {'wrist': 3.0}}, {'velocity': {None: 1.0}},
    {'position': {'wrist': (0, 1)}}, {'joints': ['elbow', 'wrist']}])
def test_an_unknown_joint_is_named(wrong):
    """With the joints there are."""
    with pytest.raises(UnknownName, match='shoulder, elbow, slide'):
        limits_of(ROBOT, **wrong)


@pytest.mark.parametrize('value', [0.0, -1.0, np.nan, np.inf, 2e9, 'much', None, [1.0, 2.0]])
@pytest.mark.parametrize('what', ['effort', 'slew', 'velocity'])
def test_an_invalid_limit_is_named(what, value):
    """The kind and the joint."""
    with pytest.raises(DynamicsError, match=f"the {what} limit of joint 'elbow'"):
        limits_of(ROBOT, **{what: {'elbow': value}})


@pytest.mark.parametrize('pair', [(1.0, 0.0), (0.0,), (np.nan, 1.0), ('a', 1.0), (0, 1, 2)])
def test_invalid_position_limits_are_named(pair):
    """The joint."""
    with pytest.raises(DynamicsError, match="the position limits of joint 'slide'"):
        limits_of(ROBOT, position={'slide': pair})


def test_joints_that_are_not_driven_get_no_torque():
    """Also when their limits are unknown; they are not faded."""
    limits = limits_of(robot(efforts=np.array([40.0, np.nan, np.nan])), joints=['shoulder'])
    gate = Gate(gate_limits_of(limits, SafetySettings(ramp_in_time=0.0)))
    beyond = np.array([HOME[0], 0.0, 5.0])
    proposal = Proposal(EFFORT, EFFORT, Measured(0.0, beyond, np.array([0.0, 9.0, 9.0])))
    gate.enable(0.0, proposal)
    for k in range(1, 200):
        release = gate.step(k * 0.01, proposal._replace(
            measured=proposal.measured._replace(stamp=k * 0.01)))
    assert np.array_equal(release.effort, [40.0, 0.0, 0.0]) and release.limited == ()
    assert np.array_equal(gate.shutdown_sequence(2.0)[-1].effort, [40.0, 0.0, 0.0])


def test_a_floating_base_is_not_driven():
    """There nq is not nv; the joints after it have the right entries of q."""
    flying = Robot.from_urdf(urdf(), base='floating', compile=False)
    limits = limits_of(flying)
    assert (limits.nq, limits.nv) == (10, 9)
    assert np.array_equal(limits.driven, [False] * 6 + [True] * 3)
    enforced = gate_limits_of(limits)
    assert np.array_equal(enforced.position(np.arange(10.0))[6:], [7.0, 8.0, 9.0])
    gate = Gate(gate_limits_of(limits, SafetySettings(ramp_in_time=0.0)))
    q = np.concatenate([[100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], HOME])
    tau = np.concatenate([np.full(6, 300.0), 0.5 * EFFORT])
    for k in range(200):
        q[0] -= 3.0   # a base moves as it likes
        proposal = Proposal(tau, tau, Measured(k * 0.01, q, np.zeros(9)))
        if k == 0:
            gate.enable(0.0, proposal)
        release = gate.step(k * 0.01, proposal)
    assert np.array_equal(release.effort, np.concatenate([np.zeros(6), 0.5 * EFFORT]))
    with pytest.raises(UnknownName):
        limits_of(flying, joints=['floating_base'])


def test_margin_and_tolerance_of_a_short_joint_are_reduced():
    """To a tenth of its range."""
    enforced = gate_limits(position_margin=1.0, position_tolerance=1.0)
    assert enforced.position_margin == pytest.approx([0.35, 1.0, 0.05])
    assert enforced.position_tolerance == pytest.approx([0.35, 1.0, 0.05])


def test_a_slew_limit_that_takes_too_long_is_named():
    """The safe torque must be reached before the process ends."""
    with pytest.raises(DynamicsError, match="the slew limit of joint 'elbow' is 49.9 .* at least "
                                            '50 per'):
        gate_limits_of(limits_of(ROBOT, slew={'elbow': 49.9}))
    assert gate_limits_of(limits_of(ROBOT, slew={'elbow': 50.0})).slew[1] == 50.0


def test_enforced_limits_cannot_be_changed():
    """They are read-only, and so is what is released."""
    for name in ('effort', 'slew', 'zero', 'upper'):
        with pytest.raises(TypeError):
            getattr(gate_limits(), name)[0] = 1e9


def test_unknown_limits_are_listed_unless_assumed():
    """By name, those of driven joints."""
    limits = limits_of(robot(efforts=np.array([np.nan, 20.0, np.nan])))
    assert gate_limits_of(limits).unknown_effort == ('shoulder', 'slide')
    assumed = gate_limits_of(limits, SafetySettings(unknown_effort='assume', assumed_effort=7.0))
    assert assumed.unknown_effort == () and np.array_equal(assumed.effort, [7.0, 20.0, 7.0])
    assert assumed.slew == pytest.approx([70.0, 200.0, 70.0])


@pytest.mark.parametrize('name, value', [
    ('max_state_age', 0.0), ('max_state_age', np.nan), ('max_state_age', 1.1),
    ('max_reference_age', -1.0), ('max_clock_step', np.inf), ('ramp_in_time', -0.1),
    ('ramp_out_time', 0.9), ('slew_time', 0.0), ('slew_time', 0.5), ('exit_period', 0.1),
    ('hold_time', None), ('assumed_effort', 0.0), ('position_margin', '0.1'),
    ('velocity_margin', 1.1), ('jump_speed', True), ('safe_action', 'brake'),
    ('unknown_effort', 'unlimited'), ('safe_action', None), ('safe_action', ['zero'])])
def test_a_bad_setting_is_named(name, value):
    """With the valid values."""
    with pytest.raises(DynamicsError, match=rf'^{name} is .*(expected a number from|choices are)'):
        SafetySettings(**{name: value})
