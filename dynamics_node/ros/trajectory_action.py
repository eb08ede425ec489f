"""Serve the action `~/follow_joint_trajectory`, as joint_trajectory_controller does.

Goals are read and checked here, in the serving process; the torque process follows them and
compares each measured state with them (ros/torque/goal_execution.py). So neither a goal nor its
client delays a torque. The end of a goal always comes from the torque process.

ROS 2 sends no reason with a rejected goal: every goal is accepted, and one that is not executed is
aborted at once, with error_code and error_string.
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable
from typing import Any

from rclpy.action import CancelResponse
from trajectory_msgs.msg import JointTrajectoryPoint

from dynamics_node.control.trajectory_goal import GoalCode, GoalOutcome
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.goal_request import RefusedGoal, goal_request
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters.trajectory import TrajectoryParameters
from dynamics_node.ros.rclpy_internals import BackgroundActionServer
from dynamics_node.ros.sendable_messages import publish, sendable, sentence
from dynamics_node.ros.torque.records import GoalEnd, GoalFeedback
from dynamics_node.ros.torque.supervisor import TorqueSupervisor

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:   # it is not installed; the node works without it
    FollowJointTrajectory = None

ACTION = '~/follow_joint_trajectory'
FAULT = 'internal error; see the log of the node'


class TrajectoryServer:
    """The action server; without control_msgs there is none."""

    def __init__(self, node: Any, node_state: NodeState, torque: TorqueSupervisor,
                 parameters: Callable[[], TrajectoryParameters]) -> None:
        """Create the action server.

        :param parameters: returns those in use.
        """
        self._node, self._node_state, self._torque = node, node_state, torque
        self._parameters, self._log = parameters, node.log
        self._numbers = itertools.count()
        self._handles: dict[int, Any] = {}   # {number: handle} of goals that have not ended
        torque.goal_records()                # of a server before this one
        self.entities: list[tuple[Callable, Any]] = []
        if FollowJointTrajectory is None:
            self._log.info(f'control_msgs is not installed: there is no {ACTION}; send '
                           'trajectories on ~/reference')
            return
        self._server = BackgroundActionServer(
            node, FollowJointTrajectory, ACTION, lambda _: None, log_error=self._log.error,
            handle_accepted_callback=self._accept, cancel_callback=self._on_cancel)
        self.entities.append((BackgroundActionServer.destroy, self._server))

    def _accept(self, handle: Any) -> None:
        """Let the torque process follow an accepted goal, or abort it with the reason."""
        handle.execute()
        number = next(self._numbers)
        try:
            request = goal_request(number, handle.request, self._node_state.current_robot,
                                   self._node_state.clock(), self._parameters())
            self._handles[number] = handle
            self._torque.follow_goal(request)
        except RefusedGoal as error:
            self._refuse(number, handle, error.outcome)
        except DynamicsError as error:
            self._refuse(number, handle, GoalOutcome(GoalCode.INVALID_GOAL, str(error)))
        except Exception:
            self._log.error(f'{ACTION} failed, please report this:\n{traceback.format_exc()}')
            self._refuse(number, handle, GoalOutcome(GoalCode.INVALID_GOAL, FAULT))

    def _refuse(self, number: int, handle: Any, outcome: GoalOutcome) -> None:
        self._handles.pop(number, None)
        self._log.warning(f'the goal of {ACTION} was refused: {outcome.text}')
        self._finish(handle, handle.abort, outcome)

    def _on_cancel(self, handle: Any) -> CancelResponse:
        """Cancel a goal once rclpy has noted the request."""
        self._node.executor.create_task(self._cancel, handle)
        return CancelResponse.ACCEPT

    def _cancel(self, handle: Any) -> None:
        for number, each in self._handles.items():
            if each is handle:
                self._torque.tell('cancel_goal', number)

    def read_records(self) -> None:
        """Pass on feedback and ends of goals; abort all if the torque process has ended."""
        for record in self._torque.goal_records():
            handle = self._handles.get(record.number)
            if handle is None:
                continue
            if isinstance(record, GoalFeedback):
                publish(handle.publish_feedback, _feedback(handle.request, record), self._log)
            else:
                self._on_end(handle, record)
        if self._torque.failure:
            for number in list(self._handles):
                self._on_end(self._handles[number], GoalEnd(
                    number, GoalOutcome(GoalCode.INVALID_GOAL, self._torque.failure), False))

    def _on_end(self, handle: Any, record: GoalEnd) -> None:
        del self._handles[record.number]
        end = (handle.canceled if record.cancelled else
               handle.succeed if record.outcome.code == GoalCode.SUCCESSFUL else handle.abort)
        if end == handle.abort:
            self._log.warning(f'the goal of {ACTION} was aborted: {record.outcome.text}')
        self._finish(handle, end, record.outcome)

    def _finish(self, handle: Any, end: Callable[[], None], outcome: GoalOutcome) -> None:
        self._server.finish(handle, end, sendable(FollowJointTrajectory.Result(
            error_code=int(outcome.code), error_string=sentence(outcome.text))))


def _feedback(goal: Any, record: GoalFeedback) -> Any:
    """Return the FollowJointTrajectory.Feedback of a record."""
    p = record.progress
    message = FollowJointTrajectory.Feedback(
        joint_names=goal.trajectory.joint_names, desired=_point(*p.desired),
        actual=_point(p.q, p.v), error=_point(p.q_error, p.v_error))
    message.header.stamp = convert.time(record.stamp)
    return message


def _point(*columns: Any) -> JointTrajectoryPoint:
    """Return a point of positions, velocities and perhaps accelerations."""
    fields = ('positions', 'velocities', 'accelerations')
    return JointTrajectoryPoint(**{field: convert.floats(column)
                                   for field, column in zip(fields, columns)})
