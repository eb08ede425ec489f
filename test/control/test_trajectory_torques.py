"""Test torques of a trajectory against limits, and the greatest payload in any gravity."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.differences import relative
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import DynamicsError, Robot, UnknownName
from dynamics_node.control.trajectory_torques import trajectory_torques
from dynamics_node.example_robots import ARM7

NAN, G = float('nan'), 9.81
MASS, CENTER, REACH, LIMIT = 2.0, 0.3, 0.8, 30.0
UPRIGHT, CEILING, WALL = (0.0, 0.0, -G), (0.0, 0.0, G), (-G, 0.0, 0.0)


def pendulum(gravity=UPRIGHT, effort=LIMIT):
    """Return a rod along x that turns about y: q > 0 lowers it when upright."""
    return Robot.from_urdf(f"""<robot name="pendulum"><link name="base"/>
        <link name="rod"><inertial><origin xyz="{CENTER} 0 0"/><mass value="{MASS}"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/>
        <axis xyz="0 1 0"/><limit lower="-7" upper="7" effort="{effort}" velocity="1"/></joint>
        </robot>""", gravity=gravity)


@pytest.fixture
def arm():
    return Robot.from_urdf(ARM7)


def motion(robot, rng, samples=5):
    """Return times, q, v, a at random."""
    q = np.array([robot.random_configuration(rng) for _ in range(samples)])
    return np.arange(samples) * 0.1, q, *rng.normal(size=(2, samples, robot.nv))


def per_kilogram(robot, q, v, a, frame, com):
    """Return J' (acceleration of the point - gravity), from the Jacobian of the frame."""
    J, rate = robot.jacobian(q, frame), robot.jacobian_rate(q, v, frame)
    arm = robot.frame_pose(q, frame)[:3, :3] @ com
    spin, turning = J[3:] @ v, J[3:] @ a + rate[3:] @ v
    acceleration = (J[:3] @ a + rate[:3] @ v + np.cross(turning, arm)
                    + np.cross(spin, np.cross(spin, arm)))
    J_point = J[:3] + np.cross(J[3:], arm, axis=0)
    return J_point.T @ (acceleration - robot.gravity)


# Gravity the right way up ----------------------------------------------------------------------


@pytest.mark.parametrize('gravity, q', [
    (UPRIGHT, 0.0), (UPRIGHT, np.pi), (CEILING, 0.0), (CEILING, np.pi),
    (WALL, np.pi / 2), (WALL, -np.pi / 2)])
def test_a_payload_loads_a_level_rod_in_either_mounting(gravity, q):
    """By hand: (MASS CENTER + m REACH) g = LIMIT. The wrong sign would relieve the rod."""
    result = trajectory_torques(pendulum(gravity), [0.0], [[q]], [[0.0]], [[0.0]],
                                payload_frame='rod', payload_com=(REACH, 0.0, 0.0))
    assert result.peak[0] == pytest.approx(MASS * CENTER * G, rel=EXACT_MATHS)
    by_hand = (LIMIT / G - MASS * CENTER) / REACH
    assert result.greatest_payload == pytest.approx(by_hand, rel=SOLVED)


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_the_greatest_payload_is_the_same_in_opposite_gravity(seed):
    """Both weights change their sign; if one did not, the payloads would differ."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=3)
    gravity = G * direction / np.linalg.norm(direction)
    arm = Robot.from_urdf(ARM7, friction=False)
    rest = np.zeros(arm.nv)
    up, down = (trajectory_torques(arm.with_gravity(g), [0.0], q, rest, rest,
                                   payload_frame='tool0', payload_com=(0.1, 0.0, 0.1))
                for q in [arm.random_configuration(rng)] for g in (gravity, -gravity))
    assert relative(up.effort, -down.effort) < EXACT_MATHS
    assert 0.0 < up.greatest_payload == pytest.approx(down.greatest_payload, rel=SOLVED)


@pytest.mark.parametrize('gravity', [UPRIGHT, CEILING, WALL])
def test_each_kilogram_loads_an_outstretched_arm_in_either_mounting(arm, gravity):
    """At the shoulder, by the torques themselves."""
    q = np.zeros(arm.nv)
    q[1] = 0.0 if gravity is WALL else np.pi / 2
    arm = arm.with_gravity(gravity)
    rest = np.zeros(arm.nv)
    result = trajectory_torques(arm, [0.0], q, rest, rest, payload_frame='tool0')
    loaded = [np.abs(arm.with_payload('load', 'tool0', mass).gravity_torque(q))[1]
              for mass in (0.0, 1.0, 2.0, result.greatest_payload)]
    assert np.all(np.diff(loaded) > 1.0)
    assert result.greatest_payload > 2.0


# The greatest payload --------------------------------------------------------------------------


def test_the_greatest_payload_takes_the_tightest_joint_to_its_limit(tree):
    """Attached, one joint is at its limit; 1 % more exceeds it. On every tree, in motion."""
    robot, rng = tree.robot, tree.rng
    times, q, v, a = motion(robot, rng)
    frame, com = 'l9', rng.normal(size=3) * 0.2
    limits = np.abs(robot.inverse_dynamics(q, v, a)).max(axis=0) * rng.uniform(1, 3, robot.nv)
    limits[0] = NAN
    mass = trajectory_torques(robot, times, q, v, a, limits, frame, com).greatest_payload
    assert 0.0 < mass < np.inf
    less, exactly, more = (
        np.nanmax(np.abs(robot.with_payload('load', frame, share * mass, com)
                         .inverse_dynamics(q, v, a)) / limits) for share in (0.99, 1.0, 1.01))
    assert exactly == pytest.approx(1.0, rel=SOLVED)
    assert less < 1.0 - SOLVED and more > 1.0 + SOLVED


def test_the_greatest_payload_is_that_of_the_points_weight_and_inertia(tree):
    """By the Jacobian of the point, and the torque that moves a kilogram there."""
    robot, rng = tree.robot, tree.rng
    times, q, v, a = motion(robot, rng)
    com = rng.normal(size=3) * 0.2
    effort = robot.inverse_dynamics(q, v, a)
    limits = np.abs(effort).max(axis=0) + rng.uniform(1, 10, robot.nv)
    d = np.array([per_kilogram(robot, *state, 'l9', com) for state in zip(q, v, a)])
    d[np.abs(d) < SOLVED] = NAN  # a joint of another branch
    expected = np.nanmin((limits - np.sign(d) * effort) / np.abs(d))
    result = trajectory_torques(robot, times, q, v, a, limits, 'l9', com)
    assert result.greatest_payload == pytest.approx(expected, rel=SOLVED)


@pytest.mark.parametrize('name', ['load', 'probe', ''])
def test_the_greatest_payload_is_added_to_present_payloads(arm, name):
    """For any name of those: none is replaced."""
    times, q, v, a = motion(arm, np.random.default_rng(4))
    limits = np.full(arm.nv, 500.0)
    free, carrying = (trajectory_torques(robot, times, q, v, a, limits, 'tool0').greatest_payload
                      for robot in (arm, arm.with_payload(name, 'tool0', 1.5)))
    assert carrying == pytest.approx(free - 1.5, rel=SOLVED)


def test_the_greatest_payload_is_zero_beyond_a_limit():
    """Even if a counterweight would relieve the joint."""
    robot = pendulum()
    state = [0.0], [[0.0]], [[0.0]], [[0.0]]
    for com in ((REACH, 0, 0), (-REACH, 0, 0)):
        assert trajectory_torques(robot, *state, [5.0], 'rod', com).greatest_payload == 0.0
    ok = trajectory_torques(robot, *state, [6.0], 'rod', (-REACH, 0, 0)).greatest_payload
    assert ok == pytest.approx((6.0 / G + MASS * CENTER) / REACH, rel=SOLVED)


@pytest.mark.parametrize('case', ['unknown', 'on the base', 'on the axis', 'unlimited'])
def test_the_greatest_payload_is_infinite_without_limits(case):
    """No known limit, or no joint that carries it."""
    limits = {'unknown': [NAN], 'unlimited': [np.inf]}.get(case, [LIMIT])
    frame = 'base' if case == 'on the base' else 'rod'
    com = (0.0, 0.3, 0.0) if case == 'on the axis' else (REACH, 0.1, 0.2)
    result = trajectory_torques(pendulum(), [0.0], [[0.4]], [[0.5]], [[0.6]], limits, frame, com)
    assert result.greatest_payload == np.inf


# Torques, limits, saturation ---------------------------------------------------------------------


def test_torques_peaks_and_margins_are_those_of_inverse_dynamics(tree):
    """Sample by sample; a limit of the URDF is that of each dof of the joint."""
    robot = tree.robot
    times, q, v, a = motion(robot, tree.rng)
    result = trajectory_torques(robot, times, q, v, a)
    rows = np.array([robot.inverse_dynamics(*state) for state in zip(q, v, a)])
    assert relative(result.effort, rows) < EXACT_MATHS
    limits = [NAN if name.startswith('floating_base') else 10.0 for name in robot.dof_names]
    np.testing.assert_array_equal(result.effort_limit, limits)
    np.testing.assert_array_equal(result.peak, np.maximum(rows.max(axis=0), -rows.min(axis=0)))
    np.testing.assert_array_equal(result.margin, limits - result.peak)
    assert np.isnan(result.greatest_payload)


def test_the_urdfs_limits_are_those_of_the_joints(arm):
    """By joint; 0 means unknown."""
    result = trajectory_torques(arm, [0.0], arm.neutral(), np.zeros(7), np.zeros(7))
    assert result.effort_limit.tolist() == [joint.max_effort for joint in arm.model.joints]
    assert result.effort_limit[:3].tolist() == [120.0, 120.0, 80.0]
    unknown = trajectory_torques(pendulum(effort=0), [0.0], [[0.0]], [[0.0]], [[0.0]])
    assert np.isnan(unknown.effort_limit).all() and np.isnan(unknown.margin).all()
    assert unknown.peak[0] > 5.0
    assert (unknown.first_saturated, np.isnan(unknown.first_saturation_time)) == (-1, True)


def test_the_first_saturation_is_found_in_time_then_by_ratio(arm):
    """At sample 2, where joint 6 exceeds its limit by more than joint 2; later ones are worse."""
    times = np.array([0.0, 0.5, 0.7, 1.1, 1.2])
    a = np.outer([0.0, 1.0, 100.0, 900.0, 0.0], np.ones(arm.nv))
    still = arm.random_configuration(3), np.zeros(arm.nv)
    effort = np.abs(arm.inverse_dynamics(*still, a))
    limits = effort.max(axis=0) + 1.0
    none = trajectory_torques(arm, times, *still, a, limits)
    assert none.first_saturated == -1 and np.isnan(none.first_saturation_time)
    limits[[1, 5]] = effort[2, [1, 5]] / (1.5, 2.0)
    limits[[0, 3]] = effort[2, 0] + 0.1, NAN
    assert (effort[:2, [0, 1, 5]] < limits[[0, 1, 5]]).all()
    result = trajectory_torques(arm, times, *still, a, limits)
    assert (result.first_saturated, result.first_saturation_time) == (5, 0.7)
    assert np.flatnonzero(result.margin < 0.0).tolist() == [0, 1, 5]
    assert np.isnan(result.margin[3]) and result.peak[3] > 0.0


def test_a_torque_at_its_limit_is_not_saturated():
    """Saturated means beyond it."""
    state = [3.0], [[0.2]], [[0.0]], [[0.0]]
    peak = trajectory_torques(pendulum(), *state).peak
    reached = trajectory_torques(pendulum(), *state, peak, 'rod', (REACH, 0, 0))
    assert (reached.first_saturated, reached.margin[0], reached.greatest_payload) == (-1, 0.0, 0.0)
    beyond = trajectory_torques(pendulum(), *state, np.nextafter(peak, 0.0))
    assert (beyond.first_saturated, beyond.first_saturation_time) == (0, 3.0)


def test_a_single_state_stands_for_all_samples(arm):
    """As in every method of Robot."""
    times, q, v, a = motion(arm, np.random.default_rng(2))
    mixed = trajectory_torques(arm, times, q[0], v, np.zeros(7))
    full = trajectory_torques(arm, times, np.tile(q[0], (5, 1)), v, np.zeros((5, 7)))
    np.testing.assert_array_equal(mixed.effort, full.effort)


def test_a_robot_without_joints_needs_no_torque():
    """No dof, no torque, nothing that binds."""
    rock = Robot.from_urdf('<robot name="rock"><link name="rock"/></robot>')
    result = trajectory_torques(rock, [0.0, 1.0], *[np.zeros((2, 0))] * 3, payload_frame='rock')
    assert result.effort.shape == (2, 0) and result.margin.shape == (0,)
    assert (result.first_saturated, result.greatest_payload) == (-1, np.inf)


@pytest.mark.parametrize('changes, message', [
    ({'times': []}, 'times is empty'),
    ({'times': [0.0, 0.0]}, r'times\[1\] is 0.0, not after times\[0\]'),
    ({'q': np.zeros((3, 7))}, 'batches must be of one size; times has 2, q has 3'),
    ({'v': np.zeros((2, 6))}, r'v must have shape \(7,\) or \(N, 7\), got \(2, 6\)'),
    ({'a': [[NAN] * 7] * 2}, r'a\[0, 0\] is nan; every entry must be finite'),
    ({'effort_limits': np.ones(6)}, r'effort_limits must have shape \(7,\), got \(6,\)'),
    ({'effort_limits': ['1'] * 7}, 'effort_limits must hold real numbers'),
    ({'effort_limits': [1, 1, 0, 1, 1, 1, 1]},
     r"effort_limits\[2\], of 'joint_3', is 0.0; expected a positive number, or nan"),
    ({'effort_limits': [1, -2, 1, 1, 1, 1, 1]}, r"effort_limits\[1\], of 'joint_2', is -2.0"),
    ({'payload_com': (0.0, 1.0)}, r'payload_com is \(0.0, 1.0\); expected 3 finite numbers'),
])
def test_bad_arguments_are_refused_by_name(arm, changes, message):
    """Which argument, where, and what is valid."""
    arguments = {'times': [0.0, 1.0], 'q': np.zeros((2, 7)), 'v': np.zeros((2, 7)),
                 'a': np.zeros((2, 7)), 'payload_frame': 'tool0', **changes}
    with pytest.raises(DynamicsError, match=message):
        trajectory_torques(arm, **arguments)


def test_an_unknown_payload_frame_is_named(arm):
    """The message lists the frames."""
    with pytest.raises(UnknownName, match="no frame 'hand'; the robot has: base_link"):
        trajectory_torques(arm, [0.0], *np.zeros((3, 1, 7)), payload_frame='hand')
