"""Follow standard messages in mode task_space: a pose, a twist or a wrench of torque.task_frame."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from rclpy.node import Node

from dynamics_node.control.blended_pose_spline import BlendedPoseSpline
from dynamics_node.control.pose_coordinates import pose_error, stepped
from dynamics_node.ros import convert
from dynamics_node.ros.frame_prefix import remove_prefix
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.state.measured_state import MeasuredSnapshot
from dynamics_node.ros.topic_qos import REFERENCE, overridable
from dynamics_node.ros.torque.frame_lookup import FrameLookup
from dynamics_node.ros.torque.pipeline import TorquePipeline
from dynamics_node.ros.torque.reference_order import Follow
from dynamics_node.ros.torque.task_message import read_message, six
from dynamics_node.spatial import so3

# How far the wanted pose may be ahead of the measured one where a twist or a wrench starts: an arm
# that is blocked must not build up a force for as long as twists arrive.
LEAD = 0.05        # [m]
LEAD_TURN = 0.2    # [rad]


class CartesianReferences:
    """Subscriptions to `~/reference_pose`, `~/reference_twist` and `~/reference_wrench`.

    A message without a pose continues from the wanted pose of the moment. Each one replaces the
    reference before it completely, as a TaskReference does.
    """

    def __init__(self, node: Node, node_state: NodeState, pipeline: TorquePipeline,
                 measured: Callable[[], MeasuredSnapshot | None],
                 follow: Follow, frame_lookup: FrameLookup) -> None:
        """Create the subscriptions.

        :param measured: returns the measured state, None while there is no robot.
        """
        self._node_state, self._pipeline = node_state, pipeline
        self._measured, self._frame_lookup = measured, frame_lookup
        kinds = {'pose': (PoseStamped, self._pose), 'twist': (TwistStamped, self._twist),
                 'wrench': (WrenchStamped, self._wrench)}
        self.readers = {name: partial(self._read, name, *kinds[name]) for name in kinds}
        self.entities = [
            (node.destroy_subscription, node.create_subscription(
                kind, f'~/reference_{name}', partial(self._on_message, name, follow), raw=True,
                **overridable(REFERENCE)))
            for name, (kind, _) in kinds.items()]

    def _on_message(self, name: str, follow: Follow, data: bytes) -> None:
        follow(f'reference {name}', lambda number: self.readers[name](number, data))

    def _read(self, name: str, kind: Any, values_of: Callable[..., dict[str, Any]], number: int,
              data: bytes, pose: np.ndarray | None = None) -> bool:
        """Follow a message; return False if it waits for the pose of its frame.

        :param pose: pose of the frame, None if the frame is a link or its pose is not known.
        """
        message = read_message(data, kind)
        if self._frame_lookup.request_if_not_link(number, name, message.header, data, pose):
            return False
        remove_prefix(self._node_state.parameters.frame_prefix, message)
        measured, seen_from = self._measured(), message.header.frame_id if pose is None else pose
        self._pipeline.follow_task(
            measured, convert.nanoseconds(message.header.stamp) or None, '', seen_from=seen_from,
            **values_of(message, measured, seen_from))
        return True

    def _pose(self, message: PoseStamped, measured: Any, seen_from: Any) -> dict[str, Any]:
        return {'position': convert.xyz(message.pose.position),
                'orientation': convert.xyzw(message.pose.orientation)}

    def _twist(self, message: TwistStamped, measured: Any, seen_from: Any) -> dict[str, Any]:
        return {'twist': six(message.twist.linear, message.twist.angular),
                **self._present_pose(seen_from, measured)}

    def _wrench(self, message: WrenchStamped, measured: Any, seen_from: Any) -> dict[str, Any]:
        """Return the arguments of a wrench: axes with a component are controlled by force."""
        wrench = six(message.wrench.force, message.wrench.torque)
        return {'wrench': wrench, 'force_axes': wrench != 0.0,
                **self._present_pose(seen_from, measured)}

    def _present_pose(self, seen_from: str | np.ndarray, measured: Any) -> dict[str, Any]:
        """Return the wanted pose of now, in the axes of a frame, given by its name or its pose.

        Any pose will do while no task reference is followed: the pipeline refuses the message then.
        """
        reference, pose = self._pipeline.reference, np.eye(4)
        if isinstance(reference, BlendedPoseSpline) and measured is not None:
            robot, now = self._pipeline.controller.robot, reference.at(self._pipeline.now())
            actual = robot.frame_pose(measured.q, self._pipeline.parameters.task_frame)
            ahead = pose_error(actual, now.pose_motion.pose)
            if now.reference.frame != self._pipeline.parameters.task_frame:
                ahead = np.zeros(6)
            pose = stepped(actual, ahead * _share(ahead))
            if isinstance(seen_from, np.ndarray):
                pose = np.linalg.solve(seen_from, pose)
            elif seen_from:
                pose = np.linalg.solve(robot.frame_pose(measured.q, seen_from), pose)
        return {'position': pose[:3, 3], 'orientation': so3.to_quaternion(pose[:3, :3])}


def _share(ahead: np.ndarray) -> float:
    """Return the share of a distance, (6,), that is within LEAD and LEAD_TURN, at most 1."""
    far = max(np.linalg.norm(ahead[:3]) / LEAD, np.linalg.norm(ahead[3:]) / LEAD_TURN)
    return float(1.0 / max(1.0, far))
