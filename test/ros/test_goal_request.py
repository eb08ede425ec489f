"""Test how a goal of FollowJointTrajectory is read: tolerances, defaults, refusals, their codes."""

import math

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from std_msgs.msg import Header
from support.node_states import node_state_of
from support.tiny_robots import TWO_JOINTS
from support.trajectories import trajectory

from dynamics_node.control.trajectory_goal import GoalCode
from dynamics_node.parameter import PerJoint
from dynamics_node.ros import convert
from dynamics_node.ros.goal_request import RefusedGoal, goal_request
from dynamics_node.ros.parameters.trajectory import TrajectoryParameters

control_msgs = pytest.importorskip('control_msgs.action', reason='make build makes a stand-in')

NAMES = ['elbow', 'shoulder']
NOW = 1_000_000_000_000   # [ns]
INF = math.inf


@pytest.fixture
def current():
    return node_state_of(TWO_JOINTS).current_robot


def tolerance(name, position=0.0, velocity=0.0):
    from control_msgs.msg import JointTolerance
    return JointTolerance(name=name, position=position, velocity=velocity)


def goal(points=((0.1, 0.2),), names=NAMES, stamp=0, **fields):
    times = [1.0 + k for k in range(len(points))]
    header = Header(stamp=convert.time(stamp))
    return control_msgs.FollowJointTrajectory.Goal(
        trajectory=trajectory(names, times, like=header, positions=points), **fields)


def read(current, asked, **parameters):
    return goal_request(7, asked, current, NOW, TrajectoryParameters(**parameters))


def test_a_goal_is_read(current):
    request = read(current, goal(stamp=NOW), feedback_rate=10.0)
    assert (request.number, request.names, request.start) == (7, NAMES, NOW)
    times, positions, velocities, accelerations = request.points
    assert (times.tolist(), positions.tolist()) == ([1.0], [[0.1, 0.2]])
    assert velocities is None and accelerations is None and request.feedback_period == 0.1
    assert read(current, goal()).start is None


def test_without_tolerances_only_the_rest_at_the_end_is_demanded(current):
    path_q, path_v, goal_q, goal_v, goal_time = read(current, goal()).tolerances
    for none in (path_q, path_v, goal_q):
        np.testing.assert_array_equal(none, [INF, INF])
    np.testing.assert_array_equal(goal_v, [0.01, 0.01])
    assert goal_time == INF


def test_defaults_are_those_of_the_joints_in_the_order_of_the_goal(current):
    found = read(current, goal(), path_tolerance=PerJoint(0.2, {'shoulder': 0.1}),
                 goal_tolerance=PerJoint(0.3), stopped_velocity_tolerance=0.0,
                 goal_time=0.5).tolerances
    np.testing.assert_array_equal(found.path_position, [0.2, 0.1])   # the model: shoulder, elbow
    np.testing.assert_array_equal(found.goal_position, [0.3, 0.3])
    np.testing.assert_array_equal(found.goal_velocity, [INF, INF])
    assert found.goal_time == 0.5


def test_a_goal_replaces_and_removes_defaults(current):
    """-1 removes one, 0 and joints that are not named have the default."""
    found = read(current, goal(path_tolerance=[tolerance('elbow', 0.05, 0.7)],
                               goal_tolerance=[tolerance('shoulder', -1.0, -1.0),
                                               tolerance('elbow', 0.0, 0.2)],
                               goal_time_tolerance=Duration(sec=2)),
                 path_tolerance=PerJoint(0.1), goal_tolerance=PerJoint(0.3),
                 goal_time=0.5).tolerances
    np.testing.assert_array_equal(found.path_position, [0.05, 0.1])
    np.testing.assert_array_equal(found.path_velocity, [0.7, INF])
    np.testing.assert_array_equal(found.goal_position, [0.3, INF])
    np.testing.assert_array_equal(found.goal_velocity, [0.2, INF])
    assert found.goal_time == 2.0
    removed = read(current, goal(goal_time_tolerance=Duration(sec=-1)), goal_time=0.5)
    assert removed.tolerances.goal_time == INF


def with_several_freedoms():
    asked = goal()
    asked.multi_dof_trajectory.joint_names = ['base']
    return asked


REFUSED = {
    'no joints': (lambda: goal([[]], []), GoalCode.INVALID_GOAL, 'joint_names is empty'),
    'no points': (lambda: goal([]), GoalCode.INVALID_GOAL, 'points is empty'),
    'nan': (lambda: goal([[math.nan, 0.0]]), GoalCode.INVALID_GOAL, 'must be finite'),
    'too long': (lambda: goal([[0.1, 0.1]] * 50_000), GoalCode.INVALID_GOAL,
                 'the trajectory has 1200000 bytes of numbers; expected at most 1000000'),
    'unknown joint': (lambda: goal(names=['elbow', 'knee']), GoalCode.INVALID_JOINTS, "'knee'"),
    'joint twice': (lambda: goal(names=['elbow', 'elbow']), GoalCode.INVALID_JOINTS, 'twice'),
    'old': (lambda: goal(stamp=NOW - 5_000_000_000), GoalCode.OLD_HEADER_TIMESTAMP,
            'was over 4 s ago'),
    'several degrees of freedom': (with_several_freedoms, GoalCode.INVALID_GOAL,
                                   'multi_dof_trajectory is given'),
    'tolerance of another joint': (lambda: goal(path_tolerance=[tolerance('knee', 0.1)]),
                                   GoalCode.INVALID_JOINTS, "path_tolerance has 'knee'"),
    'negative tolerance': (lambda: goal(goal_tolerance=[tolerance('elbow', -0.5)]),
                           GoalCode.INVALID_GOAL, "goal_tolerance of 'elbow': position is -0.5"),
    'tolerance of nan': (lambda: goal(path_tolerance=[tolerance('elbow', 0.1, math.nan)]),
                         GoalCode.INVALID_GOAL, "path_tolerance of 'elbow': velocity is nan"),
    'negative time': (lambda: goal(goal_time_tolerance=Duration(sec=-2)), GoalCode.INVALID_GOAL,
                      'goal_time_tolerance is -2 s'),
}


@pytest.mark.parametrize('name', REFUSED)
def test_a_goal_is_refused_with_its_code_and_the_field(current, name):
    make, code, text = REFUSED[name]
    with pytest.raises(RefusedGoal) as caught:
        read(current, make())
    assert caught.value.outcome.code == code and text in caught.value.outcome.text


def test_a_tolerance_of_a_joint_that_the_robot_lacks_is_ignored(current):
    """Another robot may have come since it was set; robot_mismatch.py refuses it for this one."""
    found = read(current, goal(), path_tolerance=PerJoint(0.1, {'wrist': 0.2})).tolerances
    np.testing.assert_array_equal(found.path_position, [0.1, 0.1])


def test_the_codes_are_those_of_the_message():
    result = control_msgs.FollowJointTrajectory.Result
    assert {code.name: int(code) for code in GoalCode} == {
        name: getattr(result, name) for name in (
            'SUCCESSFUL', 'INVALID_GOAL', 'INVALID_JOINTS', 'OLD_HEADER_TIMESTAMP',
            'PATH_TOLERANCE_VIOLATED', 'GOAL_TOLERANCE_VIOLATED')}
