"""Test the refusal of trajectories before they move a joint: start, limits, turns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot
from dynamics_node.control.reference import Reference
from dynamics_node.control.reference_limits import BLEND_TIME, MAX_START_ERROR, ReferenceLimits
from dynamics_node.example_robots import ARM7

TURN = 2 * np.pi
LINK = ('<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link>')
URDF = f"""<robot name="pair"><link name="base"/>{LINK.format('a')}{LINK.format('b')}
    <joint name="elbow" type="revolute"><parent link="base"/><child link="a"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="2" velocity="1.5"/></joint>
    <joint name="wheel" type="continuous"><parent link="a"/><child link="b"/>
    <axis xyz="0 0 1"/></joint></robot>"""


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(URDF)


def held(robot, q=(0.0, 0.0), **rules):
    return Reference.hold(q, 0.0, ReferenceLimits.of(robot, **rules))


def sent(reference, times, positions, *more, start=0.0, now=0.0, joints=None):
    return reference.replaced_by(times, positions, *more, start=start, now=now, joints=joints)


def test_limits_and_names_are_those_of_the_robot():
    """Names, limits of its joints, and the defaults."""
    arm = Robot.from_urdf(ARM7)
    rules = ReferenceLimits.of(arm)
    joints = arm.model.joints
    assert rules.names == arm.joint_names
    for field in ('lower', 'upper', 'max_velocity'):
        np.testing.assert_array_equal(getattr(rules, field), [getattr(j, field) for j in joints])
    assert rules.turning.size == 0
    assert (rules.blend_time, rules.max_start_error) == (BLEND_TIME, MAX_START_ERROR)


# Start -------------------------------------------------------------------------------------------


@pytest.mark.parametrize('off', [0.09, -0.09])
def test_a_start_slightly_off_is_blended_in_and_one_far_off_is_refused(robot, off):
    """At once, when it began already, or in less time than a blend takes."""
    reference = held(robot)
    for times, start in (([0.0, 1.0], 0.0), ([0.0, 1.0], -0.5), ([0.19, 1.0], 0.0)):
        motion = sent(reference, times, [[off, 0.0]] * 2, start=start).at(9.0)
        np.testing.assert_allclose(motion.q, [off, 0.0], atol=EXACT_MATHS)
        with pytest.raises(DynamicsError, match=(
                rf"joint 'elbow' would start \{1.2 * off:+.4g} off the present reference, more "
                r'than 0.1; expected .* at least 0.2 s before its first point')):
            sent(reference, times, [[1.2 * off, 0.0]] * 2, start=start)


def test_a_first_point_after_the_blend_time_may_be_anywhere(robot):
    """There is time to reach it."""
    reference = sent(held(robot), [1.5], [[1.0, 3.0]])
    np.testing.assert_array_equal(reference.at(1.5).q, [1.0, 3.0])


def test_the_start_is_measured_from_the_moving_reference(robot):
    """Where it will be when the new one begins; of the named joints."""
    moving = sent(held(robot), [0.0, 2.0], [[0.0, 0.0], [1.0, 0.0]], [[0.5, 0.0]] * 2)
    there = moving.at(1.15).q
    sent(moving, [0.15, 1.0], [there + 0.09] * 2, now=1.0, start=1.0)
    sent(moving, [0.15, 1.0], [[0.09]] * 2, now=1.0, start=1.0, joints=[1])
    with pytest.raises(DynamicsError, match="joint 'wheel' would start .0.11 off"):
        sent(moving, [0.15, 1.0], [[0.11]] * 2, now=1.0, start=1.0, joints=[1])


# Turns -------------------------------------------------------------------------------------------


@given(turns=st.integers(-5, 5), off=st.floats(-0.05, 0.05), given=st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_whole_turns_of_a_continuous_joint_are_no_start_error(turns, off, given):
    """A planner knows the angle only. A revolute joint has no whole turns."""
    robot = Robot.from_urdf(URDF)
    begin = np.array([0.0, TURN * turns + 0.3])
    points = np.zeros((3, 2, 2))
    points[0] = [[off, 0.3 + off], [off, 1.3]]
    reference = sent(held(robot, begin), [0.0, 1.0], *points[:given])
    np.testing.assert_allclose(reference.at(9.0).q, [off, TURN * turns + 1.3], atol=1e-9)
    way = [reference.at(float(t)).q[1] for t in np.linspace(0.0, 1.5, 50)]
    assert np.ptp(way) < 1.2
    with pytest.raises(DynamicsError, match="joint 'elbow' would start"):
        sent(held(robot, [TURN, 0.0], limits=False), [0.0, 1.0], points[0])


# Limits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize('times, positions, message', [
    ([1.0, 3.0], [[0.5, 0], [2.1, 0]], r"'elbow' would be at 2.0\d+ in \d.* s; .* \[-1, 2\]"),
    ([1.0, 3.0], [[0.5, 0], [-1.1, 0]], r"'elbow' would be at -1.0\d+ in \d.* s; .* \[-1, 2\]"),
    ([1.0], [[1.5, 0]], r"'elbow' would be moving with 1.\d+ in 0.\d+ s; .* \[-1.65, 1.65\]"),
])
def test_a_trajectory_beyond_a_limit_is_refused_by_joint_and_time(robot, times, positions, message):
    """Of position and velocity; the wheel has neither. limits=False accepts it."""
    with pytest.raises(DynamicsError, match='joint ' + message):
        sent(held(robot), times, positions)
    np.testing.assert_array_equal(
        sent(held(robot, limits=False), times, positions).at(9.0).q, positions[-1])


def test_limits_are_checked_between_the_points(robot):
    """A spline overshoots points that are all within."""
    times, inside = [1.0, 1.5, 2.5, 3.0], [[1.4, 0], [1.95, 0], [1.95, 0], [1.4, 0]]
    with pytest.raises(DynamicsError, match=r"'elbow' would be at 2.0\d+ in 1.\d+ s"):
        sent(held(robot, (1.4, 0.0)), times, inside)


@pytest.mark.parametrize('wrong', [3, 499, 500, 1003, 1998])
def test_every_point_of_a_long_trajectory_is_checked(robot, wrong):
    """Whichever block it is in."""
    times, positions = 10.0 * np.arange(2000), np.zeros((2000, 2))
    positions[wrong] = 2.1
    with pytest.raises(DynamicsError, match=r"'elbow' would be at 2\.\d+ in"):
        sent(held(robot), times, positions, np.zeros_like(positions))
    positions[wrong] = 1.9
    reference = sent(held(robot), times, positions, np.zeros_like(positions))
    assert reference.at(10.0 * wrong).q[0] == 1.9


def test_a_stop_beyond_a_limit_is_refused(robot):
    """A trajectory that ends at speed needs room to stop."""
    for end, fine in ((1.8, True), (1.95, False)):
        points = [0.0, 1.0], [[end - 1.0, 0], [end, 0]], [[1.0, 0]] * 2
        reference = held(robot, (end - 1.0, 0.0))
        if fine:
            assert sent(reference, *points).at(9.0).q[0] == pytest.approx(end + BLEND_TIME / 2)
        else:
            with pytest.raises(DynamicsError, match="'elbow' would be at 2.0"):
                sent(reference, *points)


def test_the_rest_of_the_previous_motion_is_checked(robot):
    """A fast arm that is about to brake cannot stop at once, just before its limit."""
    fast = sent(held(robot, (0.9, 0.0)), [0.0, 1.0, 1.05], [[0.9, 0], [1.97, 0], [1.99, 0]],
                [[1.0, 0], [1.0, 0], [0, 0]], np.zeros((3, 2)))
    with pytest.raises(DynamicsError, match="'elbow' would be at 2.0"):
        sent(fast, [0.0], [[1.97, 0.0]], start=1.0, now=1.0)


def test_a_point_at_a_limit_is_within(robot):
    """Also when its last digits are rounded differently from the URDF's."""
    for limit in (-1.0, 2.0, -1.0000004, 2.0000004):
        assert sent(held(robot), [5.0], [[limit, 0.0]]).at(9.0).q[0] == limit


def test_a_joint_beyond_its_limit_may_return_but_not_go_further(robot):
    """Else an arm beyond its limit could never be moved back."""
    for outside, limits in ((2.3, r'\[-1, 2.3\]'), (-1.3, r'\[-1.3, 2\]')):
        reference = held(robot, (outside, 0.0))
        assert sent(reference, [3.0], [[0.5, 0.0]]).at(9.0).q[0] == 0.5
        with pytest.raises(DynamicsError, match=rf"'elbow' would be at {outside}\d* .* {limits}"):
            sent(reference, [2.0], [[outside * 1.1, 0.0]])


@pytest.mark.parametrize('options, message', [
    ({'blend_time': 0.0}, 'blend_time is 0.0; expected a positive number'),
    ({'blend_time': np.nan}, 'blend_time is nan'), ({'blend_time': None}, 'blend_time is None'),
    ({'max_start_error': -1.0}, 'max_start_error is -1.0; expected zero'),
    ({'max_start_error': np.nan}, 'max_start_error is nan'),
    ({'max_start_error': '1'}, "max_start_error is '1'"),
])
def test_bad_settings_are_refused_by_name(robot, options, message):
    """Before anything moves."""
    with pytest.raises(DynamicsError, match=message):
        ReferenceLimits.of(robot, **options)


def test_a_floating_joint_has_no_reference_of_this_kind():
    """Its quaternion would leave the unit sphere."""
    with pytest.raises(DynamicsError, match='the robot has a floating joint'):
        ReferenceLimits.of(Robot.from_urdf(URDF, base='floating'))
