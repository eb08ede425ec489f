"""Receive the references of the torque modes on `~/reference`, `~/task_reference` and others."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import numpy as np
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from dynamics_node.control.reference import Reference
from dynamics_node.errors import DynamicsError
from dynamics_node.msg import TaskReference
from dynamics_node.ros import convert
from dynamics_node.ros.frame_prefix import remove_prefix
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.state.measured_state import MeasuredSnapshot
from dynamics_node.ros.topic_qos import REFERENCE, overridable
from dynamics_node.ros.torque.cartesian_references import CartesianReferences
from dynamics_node.ros.torque.frame_lookup import FrameLookup
from dynamics_node.ros.torque.joint_trajectory import checked_points
from dynamics_node.ros.torque.joint_trajectory_bytes import read_trajectory
from dynamics_node.ros.torque.pipeline import TorquePipeline
from dynamics_node.ros.torque.records import FrameWanted
from dynamics_node.ros.torque.reference_order import ReferenceOrder
from dynamics_node.ros.torque.task_message import read_task, task_of
from dynamics_node.ros.torque.whole_body_mode import WholeBodyTopic


class ReferenceTopics:
    """Subscriptions to the references.

    :ivar refused: number of references refused so far.
    :ivar last_refusal: why the last one was refused.
    :ivar order: ReferenceOrder.
    """

    def __init__(self, node: Node, node_state: NodeState, pipeline: TorquePipeline,
                 measured: Callable[[], MeasuredSnapshot | None]) -> None:
        """Create the subscriptions.

        :param measured: returns the measured state, None while there is no robot.
        """
        self._node_state = node_state
        self._pipeline, self._measured, self._log = pipeline, measured, node.log
        self.refused, self.last_refusal, self.order = 0, '', ReferenceOrder()
        self._frame_lookup = FrameLookup(node_state, pipeline, node.send)
        cartesian = CartesianReferences(node, node_state, pipeline, measured, self._follow,
                                        self._frame_lookup)
        self.entities = [
            (node.destroy_subscription, node.create_subscription(
                JointTrajectory, '~/reference', self.on_reference, raw=True,
                **overridable(REFERENCE))),
            (node.destroy_subscription, node.create_subscription(
                TaskReference, '~/task_reference', self.on_task_reference, raw=True,
                **overridable(REFERENCE))),
            *cartesian.entities,
            *WholeBodyTopic(node, node_state, pipeline, measured, self._follow).entities]
        self._readers: dict[str, Callable[..., bool]] = {
            'task': self._follow_task, **cartesian.readers}

    def on_reference(self, data: bytes) -> None:
        """Follow the trajectory in a message, or log why not and keep the current reference.

        One without points stops all joints, and holds them where they stop.
        """
        def follow(_: int) -> bool:
            trajectory = read_trajectory(data)
            if len(trajectory.times):
                self._pipeline.follow(trajectory.names, trajectory.stamp or None,
                                      *checked_points(trajectory))
            else:
                self._pipeline.change_reference(Reference.stopped)
            return True
        self._follow('reference', follow)

    def on_task_reference(self, data: bytes) -> None:
        """Follow the task reference in a message, or log why not and keep the current one."""
        self._follow('task reference', lambda number: self._follow_task(number, data))

    def _follow_task(self, number: int, data: bytes, pose: np.ndarray | None = None) -> bool:
        """Follow a task reference; return False if it waits for the pose of its frame.

        :param pose: pose of the frame, None if the frame is a link or its pose is not known.
        """
        message = read_task(data)
        if self._frame_lookup.request_if_not_link(number, 'task', message.header, data, pose):
            return False
        remove_prefix(self._node_state.parameters.frame_prefix, message)
        self._pipeline.follow_task(
            self._measured(), convert.nanoseconds(message.header.stamp) or None,
            **{**task_of(message), **({} if pose is None else {'seen_from': pose})})
        return True

    def follow_seen_from(self, wanted: FrameWanted, pose: np.ndarray | None, refusal: str) -> None:
        """Follow a reference whose frame has this pose in the root, or refuse it."""
        def follow(number: int) -> bool:
            if refusal:
                raise DynamicsError(refusal)
            self.order.check(number)
            return self._readers[wanted.topic](number, wanted.data, pose)
        self._follow('task reference' if wanted.topic == 'task' else f'reference {wanted.topic}',
                     follow, wanted.number)

    def _follow(self, what: str, follow: Callable[[int], bool], number: int = 0) -> None:
        """Follow a reference, or log and count why not; see Follow.

        :param number: number of a reference that has arrived before; 0: it arrives now.
        """
        number = number or self.order.next_number()
        try:
            if follow(number):
                self.order.set_followed(number)
        except DynamicsError as error:
            self._log.warning(f'the {what} was refused: {error}')
            self._refuse(str(error))
        except Exception:
            self._log.error(f'the {what} could not be read, please report this:\n'
                            f'{traceback.format_exc()}')
            self._refuse(f'the {what} could not be read; see the log')

    def _refuse(self, reason: str) -> None:
        self.refused += 1
        self.last_refusal = reason
