"""Test refusals of invalid trajectories: point, field and expected value."""

import math

import numpy as np
import pytest
from support.node_states import ask, measure, node_state_of, refused, scene
from support.tiny_robots import EVERY_KIND, TWO_JOINTS
from support.trajectories import trajectory

NAMES = ['shoulder', 'elbow']
TIMES = [0.0, 0.5, 1.0]
GOOD = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]


@pytest.fixture
def node_state():
    """Two joints, all measured."""
    return scene(TWO_JOINTS).node_state


def said(node_state, names=NAMES, times=TIMES, **columns):
    return refused(node_state, 'trajectory_torques',
                   trajectory=trajectory(names, times, **{'positions': GOOD, **columns}))


def test_a_trajectory_without_joint_names_is_refused(node_state):
    """The order of the model is not assumed."""
    for one in (node_state, node_state_of(EVERY_KIND)):
        assert said(one, names=[]).startswith('trajectory.joint_names is empty')


def test_a_trajectory_without_points_is_refused(node_state):
    """At least one."""
    assert said(node_state, times=[]).startswith('trajectory.points is empty')


def test_a_point_without_positions_is_refused(node_state):
    """All points, or one."""
    assert said(node_state, positions=[[], [], []]).startswith(
        'trajectory.points[0].positions is empty; every point needs positions')
    assert said(node_state, positions=[GOOD[0], [], GOOD[2]]).startswith(
        'trajectory.points[1].positions has 0 entries; expected 2')


@pytest.mark.parametrize('field', ['positions', 'velocities', 'accelerations'])
@pytest.mark.parametrize('row', [[0.1], [0.1, 0.2, 0.3]])
def test_a_point_of_another_size_is_refused(node_state, field, row):
    """Point and field are named."""
    assert said(node_state, **{field: [GOOD[0], GOOD[1], row]}) == (
        f'trajectory.points[2].{field} has {len(row)} entries; expected 2, one per joint of the '
        'trajectory, at every point or at none')


@pytest.mark.parametrize('field', ['velocities', 'accelerations'])
def test_a_quantity_of_some_points_alone_is_refused(node_state, field):
    """It is not interpolated."""
    assert said(node_state, **{field: [[], GOOD[1], GOOD[2]]}).startswith(
        f'trajectory.points[0].{field} has 0 entries')


@pytest.mark.parametrize('field', ['positions', 'velocities', 'accelerations'])
@pytest.mark.parametrize('bad', [math.nan, math.inf])
def test_a_value_that_is_not_finite_is_refused(node_state, field, bad):
    """Point and field are named."""
    assert said(node_state, **{field: [GOOD[0], [0.1, bad], GOOD[2]]}) == (
        f'trajectory.points[1].{field} is [0.1, {bad}]; every entry must be finite')


@pytest.mark.parametrize(('times', 'k'), [([0.0, 0.0, 1.0], 1), ([0.0, 1.0, 0.5], 2),
                                          ([0.5, 0.25, 1.0], 1)])
def test_times_that_do_not_increase_are_refused(node_state, times, k):
    """Also equal ones."""
    assert said(node_state, times=times) == (
        f'trajectory.points[{k}].time_from_start is {times[k]:g} s, not after the point before it')


def test_negative_times_are_refused(node_state):
    """They can be sent."""
    assert said(node_state, times=[-0.5, 0.0, 1.0]) == (
        'trajectory.points[0].time_from_start is -0.5 s; expected zero or more')


def test_an_unknown_or_repeated_joint_is_refused(node_state):
    """As in every service."""
    assert said(node_state, names=['shoulder', 'wrist']) == (
        "no moving joint 'wrist'; the robot has: shoulder, elbow")
    assert said(node_state, names=['elbow', 'elbow']).startswith("joint_names has 'elbow' twice")


def test_a_joint_of_several_coordinates_is_refused():
    """It may be measured instead."""
    s = scene(EVERY_KIND)
    assert said(s.node_state, names=['elbow', 'drift']).startswith("joint 'drift' is planar")
    assert ask(s.node_state, 'trajectory_torques', trajectory=trajectory(
        ['elbow', 'turn'], TIMES, positions=GOOD)).success


def test_joints_that_are_not_named_must_be_measured():
    """They are named."""
    node_state = node_state_of(TWO_JOINTS)
    measure(node_state, np.zeros(2), np.zeros(2), joints=['shoulder'])
    assert said(node_state, names=['shoulder'], positions=[[0.1], [0.2], [0.3]]).startswith(
        'no position of elbow:')


@pytest.mark.parametrize(('fields', 'message'), [
    ({'effort_limits': [1.0]}, 'effort_limits has 1 entries; expected 2, one per joint of the '),
    ({'effort_limits': [1.0, 0.0]}, 'effort_limits is [1.0, 0.0]; expected positive finite'),
    ({'effort_limits': [-1.0, 1.0]}, 'effort_limits is [-1.0, 1.0]; expected positive finite'),
    ({'effort_limits': [math.nan, 1.0]}, 'effort_limits is [nan, 1.0]; expected positive finite'),
    ({'effort_limits': [1.0, math.inf]}, 'effort_limits is [1.0, inf]; expected positive finite'),
    ({'check_period': -0.1}, 'check_period is -0.1; expected zero or a positive time in s'),
    ({'check_period': math.nan}, 'check_period is nan; expected zero or a positive time in s'),
    ({'check_period': math.inf}, 'check_period is inf; expected zero or a positive time in s'),
    ({'check_period': 1e-9}, 'check_period is 1e-09 s over 1 s: more than 200000 samples'),
    ({'check_period': 5e-324}, 'check_period is 5e-324 s over 1 s: more than 200000 samples'),
    ({'payload_frame': 'tool0'}, "no frame 'tool0'; the robot has: base, shoulder_link, elbow_li"),
])
def test_limits_period_and_frame_are_checked(node_state, fields, message):
    """The message names each."""
    assert refused(node_state, 'trajectory_torques', trajectory=trajectory(
        NAMES, TIMES, positions=GOOD), **fields).startswith(message)


def test_an_invalid_payload_point_is_refused(node_state):
    """Where a payload is requested."""
    from geometry_msgs.msg import Point
    assert refused(node_state, 'trajectory_torques', trajectory=trajectory(NAMES, TIMES,
                                                                           positions=GOOD),
                   payload_frame='base', payload_com=Point(x=math.nan)).startswith('payload_com')


def test_a_motion_that_overflows_is_refused(node_state):
    """The reply has only finite numbers."""
    assert 'too' in said(node_state, times=[0.0, 1e-9, 2e-9], positions=[[0, 0], [1e300, 0], [0,
                                                                                              0]])
