"""Test ~/follow_joint_trajectory with a client as MoveIt's: executed, cancelled, replaced, refused.

One node for all cases; the test is the arm.
"""

import math
import os
import signal

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from rclpy.action import ActionClient
from std_msgs.msg import Header
from support.gate_states import moved
from support.remote_node import wait_until
from support.torque_wire import EFFORT, ORDER, REST, Arm, parameters
from support.trajectories import trajectory

from dynamics_node.msg import TorqueState
from dynamics_node.ros import convert

control_msgs = pytest.importorskip('control_msgs.action', reason='make build makes a stand-in')
Action = control_msgs.FollowJointTrajectory

pytestmark = pytest.mark.long

SETTINGS = {'torque.mode': 'impedance', 'trajectory.path_tolerance.default': 0.0,
            'trajectory.goal_tolerance.default': 0.0, 'trajectory.stopped_velocity_tolerance': 0.01,
            'trajectory.goal_time': 0.0}
STEP = 0.001           # [rad] that the arm moves at most between two joint states: 0.2 rad/s
FAR = moved(7, 0.3)
BY = (FAR - REST)[6]
SUCCEEDED, CANCELED, ABORTED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED,
                                GoalStatus.STATUS_ABORTED)


class MoveItLike:
    """A client of the action of an arm, and a subscriber of ~/state.

    :ivar follows: whether the arm follows the feedback; otherwise it stands still.
    """

    def __init__(self, arm):
        self.arm, self.node, self.states = arm, arm.node, []
        self.action = ActionClient(self.node.client, Action,
                                   f'{self.node.name}/follow_joint_trajectory')
        wait_until(self.action.server_is_ready, 'the action')
        self._subscription = self.node.client.create_subscription(
            TorqueState, f'{self.node.name}/state', self.states.append, 100)
        self.follows, self.feedback = False, []

    def step(self):
        """Send a joint state; the arm moves towards the desired position of the last feedback."""
        if self.follows and self.feedback:
            newest = self.feedback[-1]
            for name, wanted in zip(newest.joint_names, newest.desired.positions):
                k = list(EFFORT).index(name)
                self.arm.q[k] += np.clip(wanted - self.arm.q[k], -STEP, STEP)
        self.arm.step()

    def until(self, condition, what):
        return self.arm.run_until(condition, what, self.step)

    def send(self, q, after=1.0, names=tuple(EFFORT), stamp=0, **fields):
        """Send a goal of one point; return its handle, accepted."""
        return self.send_goal(Action.Goal(trajectory=trajectory(
            names, [after], like=Header(stamp=convert.time(stamp)), positions=[list(q)]),
            **fields))

    def send_goal(self, goal):
        feedback = self.feedback = []
        future = self.node.spun(lambda: self.action.send_goal_async(
            goal, feedback_callback=lambda m: feedback.append(m.feedback)))
        self.until(future.done, 'a goal response')
        handle = future.result()
        assert handle.accepted
        handle.result = self.node.spun(handle.get_result_async)
        return handle

    def ended(self, handle):
        """Wait for the end of a goal; return (status, error_code, error_string)."""
        self.until(handle.result.done, 'a result')
        reply = handle.result.result()
        return reply.status, reply.result.error_code, reply.result.error_string

    def moving(self):
        """Wait until the reference has begun to move."""
        self.until(lambda: self.feedback and np.abs(self.feedback[-1].desired.velocities).max() > 0,
                   'a motion')

    def reference_at_rest(self):
        """Wait until the reference rests; return its position, in the order of the model."""
        self.states.clear()
        state = self.until(lambda: next((
            state for state in self.states[1:] if state.reference.velocities
            and not np.any(state.reference.velocities)), None), 'rest')
        place = {name: q for name, q in zip(state.joint_names, state.reference.positions)}
        return np.array([place[name] for name in EFFORT])


@pytest.fixture(scope='module')
def moveit_of_arm(driven_arm):
    moveit = MoveItLike(driven_arm)
    yield moveit
    moveit.action.destroy()   # else its participant outlives the module


@pytest.fixture
def moveit(moveit_of_arm):
    """A client of an arm with torques enabled."""
    moveit_of_arm.arm.prepared().enabled()
    moveit_of_arm.follows = False
    return moveit_of_arm


def tolerances(position, names=tuple(EFFORT)):
    from control_msgs.msg import JointTolerance
    return [JointTolerance(name=name, position=position) for name in names]


def goes_on(moveit):
    """Assert that torques are enabled as before, and kept the contract."""
    assert moveit.arm.said('enabled')
    moveit.arm.check()
    assert 'Traceback' not in moveit.arm.log()


# Executed ----------------------------------------------------------------------------------------

def test_a_goal_is_executed(moveit):
    """All joints, in another order than the model's, with tolerances."""
    moveit.follows = True
    goal = moveit.send(moveit.arm.in_order(moved(7, 0.05)), 1.0, ORDER,
                       path_tolerance=tolerances(0.5), goal_tolerance=tolerances(0.002))
    assert moveit.ended(goal) == (SUCCEEDED, Action.Result.SUCCESSFUL, '')
    assert len(moveit.feedback) > 3
    for feedback in moveit.feedback:
        assert feedback.joint_names == ORDER
        for one in ('positions', 'velocities'):
            np.testing.assert_allclose(
                getattr(feedback.error, one), np.subtract(getattr(feedback.desired, one),
                                                          getattr(feedback.actual, one)))
        assert len(feedback.desired.accelerations) == 7
    stamps = [convert.nanoseconds(feedback.header.stamp) for feedback in moveit.feedback]
    assert stamps == sorted(stamps) and set(stamps) <= moveit.arm.sent
    np.testing.assert_allclose(moveit.arm.q, moved(7, 0.05), atol=0.002)
    goes_on(moveit)


def test_some_joints_are_enough(moveit):
    goal = moveit.send([REST[6] + 0.05], 0.3, ['joint_7'])
    assert moveit.ended(goal)[:2] == (SUCCEEDED, Action.Result.SUCCESSFUL)
    np.testing.assert_allclose(moveit.reference_at_rest(), moved(7, 0.05))
    goes_on(moveit)


def test_a_goal_waits_until_the_arm_is_at_rest(moveit):
    """The speed at the end has a default; no other tolerance does."""
    moveit.arm.v[:] = 0.05
    goal = moveit.send(moved(7, 0.05), 0.3)
    moveit.until(lambda: moveit.feedback and not np.any(moveit.feedback[-1].desired.velocities)
                 and abs(moveit.feedback[-1].desired.positions[6] - REST[6] - 0.05) < 1e-9,
                 'the end')
    moveit.arm.run(20)
    assert not goal.result.done()
    moveit.arm.v[:] = 0.0
    assert moveit.ended(goal)[0] == SUCCEEDED


# Ended early -------------------------------------------------------------------------------------

def test_a_cancelled_goal_stops_and_holds(moveit):
    goal = moveit.send(FAR, 5.0)
    moveit.moving()
    cancelled = moveit.node.spun(goal.cancel_goal_async)
    moveit.until(cancelled.done, 'a cancel response')
    assert len(cancelled.result().goals_canceling) == 1
    status, code, text = moveit.ended(goal)
    assert (status, code) == (CANCELED, Action.Result.SUCCESSFUL) and 'stopped' in text
    q = moveit.reference_at_rest()
    assert 0.0 < q[6] - REST[6] < BY
    np.testing.assert_allclose(q[:6], REST[:6])
    goes_on(moveit)


def test_a_newer_goal_replaces_a_goal(moveit):
    """Joints that only the first one moves are stopped."""
    first = moveit.send(REST + BY, 5.0)
    moveit.moving()
    second = moveit.send([REST[6]], 0.5, ['joint_7'])
    status, code, text = moveit.ended(first)
    assert (status, code) == (ABORTED, Action.Result.INVALID_GOAL) and 'newer goal' in text
    assert moveit.ended(second)[0] == SUCCEEDED
    q = moveit.reference_at_rest()
    assert (q[:6] > REST[:6]).all() and (q[:6] - REST[:6] < BY).all()
    np.testing.assert_allclose(q[6], REST[6])
    goes_on(moveit)


def test_a_message_on_the_topic_replaces_a_goal(moveit):
    goal = moveit.send([REST[6] + BY], 5.0, ['joint_7'])
    moveit.moving()
    moveit.arm.follow([REST[5] + 0.05], 0.3, ['joint_6'])   # another joint: both go on
    moveit.until(lambda: moveit.states[-1].reference.positions[ORDER.index('joint_6')]
                 > REST[5] + 0.04, 'the other joint')
    assert not goal.result.done()
    moveit.arm.follow([REST[6]], 0.3, ['joint_7'])
    status, code, text = moveit.ended(goal)
    assert (status, code) == (ABORTED, Action.Result.INVALID_GOAL) and '~/reference' in text
    goes_on(moveit)


def test_a_violated_path_tolerance_ends_a_goal_where_the_arm_is(moveit):
    goal = moveit.send(FAR, 1.0, path_tolerance=tolerances(0.05))
    status, code, text = moveit.ended(goal)
    assert (status, code) == (ABORTED, Action.Result.PATH_TOLERANCE_VIOLATED)
    assert "joint 'joint_7' has a position error of +0.0" in text
    assert 'its path tolerance is 0.05' in text
    moveit.until(lambda: np.allclose(moveit.reference_at_rest(), REST), 'the measured position')
    moveit.arm.is_held()
    goes_on(moveit)


def test_a_violated_goal_tolerance_ends_a_goal_where_the_arm_is(moveit):
    goal = moveit.send(moved(7, 0.1), 0.3, goal_tolerance=tolerances(0.05),
                       goal_time_tolerance=Duration(nanosec=200_000_000))
    status, code, text = moveit.ended(goal)
    assert (status, code) == (ABORTED, Action.Result.GOAL_TOLERANCE_VIOLATED)
    assert "joint 'joint_7' has a position error of +0.1; its goal tolerance is 0.05" in text
    moveit.until(lambda: np.allclose(moveit.reference_at_rest(), REST), 'the measured position')
    moveit.arm.is_held()
    goes_on(moveit)


def test_defaults_of_tolerances_are_parameters(moveit):
    assert moveit.arm.set(trajectory__path_tolerance__joint_7=0.05).successful
    assert moveit.ended(moveit.send(FAR, 1.0))[1] == Action.Result.PATH_TOLERANCE_VIOLATED
    moveit.until(lambda: np.allclose(moveit.reference_at_rest(), REST), 'the measured position')
    allowed = moveit.send(moved(7, 0.1), 0.3, path_tolerance=tolerances(-1.0))
    assert moveit.ended(allowed)[0] == SUCCEEDED
    refused = moveit.arm.set(trajectory__path_tolerance__elbow=0.1)
    assert not refused.successful and "no joint 'elbow'" in refused.reason
    goes_on(moveit)


def test_disable_ends_a_goal(moveit):
    goal = moveit.send(FAR, 5.0)
    moveit.moving()
    moveit.arm.disable()
    assert moveit.ended(goal) == (ABORTED, Action.Result.INVALID_GOAL, 'torques were disabled')
    moveit.arm.ended_safely()


def test_a_fault_ends_a_goal_with_its_reason(moveit):
    goal = moveit.send(FAR, 5.0)
    moveit.moving()
    moveit.arm.v[0] = -5.0
    status, code, text = moveit.ended(goal)
    assert (status, code) == (ABORTED, Action.Result.INVALID_GOAL)
    assert 'torques ended in a fault: ' in text and 'joint_1' in text
    moveit.arm.v[0] = 0.0
    moveit.arm.until_fault('joint_1')
    moveit.arm.check()


# Refused -----------------------------------------------------------------------------------------

def test_refused_goals_say_why_and_the_goal_before_them_goes_on(moveit):
    goal = moveit.send(FAR, 8.0)
    moveit.moving()
    running = moveit.feedback
    cases = (
        (moveit.send([0.1], 1.0, ['knee']), Action.Result.INVALID_JOINTS, 'knee'),
        (moveit.send(REST, 1.0, stamp=moveit.arm.now() - 60 * 10**9),
         Action.Result.OLD_HEADER_TIMESTAMP, 'was over 5'),
        (moveit.send_goal(Action.Goal()), Action.Result.INVALID_GOAL, 'joint_names is empty'),
        (moveit.send(REST * math.nan), Action.Result.INVALID_GOAL, 'must be finite'),
        (moveit.send(moved(7, 9.0), 9.0), Action.Result.INVALID_GOAL, "'joint_7' would be at"),
        (moveit.send(REST, path_tolerance=tolerances(0.1, ['knee'])),
         Action.Result.INVALID_JOINTS, "path_tolerance has 'knee'"))
    for refused, expected, part in cases:
        status, code, text = moveit.ended(refused)
        assert (status, code) == (ABORTED, expected) and part in text
    count = len(running)
    moveit.until(lambda: len(running) > count, 'more feedback')
    assert not goal.result.done()
    cancelled = moveit.node.spun(goal.cancel_goal_async)
    moveit.until(cancelled.done, 'a cancel response')
    assert moveit.ended(goal)[0] == CANCELED
    goes_on(moveit)


def test_a_goal_is_refused_while_torques_are_disabled(moveit):
    moveit.arm.disable()
    moveit.arm.until_silent()
    status, code, text = moveit.ended(moveit.send(REST))
    assert (status, code) == (ABORTED, Action.Result.INVALID_GOAL)
    assert 'torques are disabled: enable them first' in text


def test_a_goal_is_refused_in_a_mode_that_follows_none(moveit):
    moveit.arm.prepared(torque__mode='gravity').enabled()
    status, code, text = moveit.ended(moveit.send(REST))
    assert (status, code) == (ABORTED, Action.Result.INVALID_GOAL)
    assert "torque.mode is 'gravity', which follows no reference" in text
    goes_on(moveit)


# Processes ---------------------------------------------------------------------------------------

def test_the_end_of_the_torque_process_ends_a_goal(launch):
    arm = Arm(launch(*parameters()), **SETTINGS)
    try:
        moveit = MoveItLike(arm)
        arm.prepared().enabled()
        goal = moveit.send(FAR, 30.0)
        moveit.moving()
        arm.torque_process().send_signal(signal.SIGKILL)
        status, code, text = moveit.ended(goal)
        assert (status, code) == (ABORTED, Action.Result.INVALID_GOAL)
        assert text.startswith('the torque process ')
        status, _, text = moveit.ended(moveit.send(FAR, 30.0))
        assert status == ABORTED and text.startswith('the torque process ')
    finally:
        arm.close()


def test_the_node_works_without_control_msgs(launch):
    paths = [path for path in os.environ['PYTHONPATH'].split(':') if 'control_msgs' not in path]
    node = launch(*parameters(), environment={'PYTHONPATH': ':'.join(paths)})
    assert node.call('model_report').success
    assert 'control_msgs is not installed: there is no ~/follow_joint_trajectory' in (
        node.process.log())
