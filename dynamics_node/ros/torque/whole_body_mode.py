"""Follow `~/whole_body_reference` in mode whole_body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from dynamics_node.control.whole_body_controller import WHOLE_BODY
from dynamics_node.msg import WholeBodyReference as WholeBodyMessage
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.state.measured_state import MeasuredSnapshot
from dynamics_node.ros.topic_qos import REFERENCE, overridable
from dynamics_node.ros.torque import law_kernels
from dynamics_node.ros.torque.mode_reference import check_follows
from dynamics_node.ros.torque.pipeline import TorquePipeline
from dynamics_node.ros.torque.reference_order import Follow
from dynamics_node.ros.torque.whole_body_message import (
    blend_of,
    check_age,
    read_whole_body,
    reference_of,
)


class WholeBodyTopic:
    """Subscription to `~/whole_body_reference`."""

    def __init__(self, node: Node, node_state: NodeState, pipeline: TorquePipeline,
                 measured: Callable[[], MeasuredSnapshot | None], follow: Follow) -> None:
        """Create the subscription.

        :param measured: returns the measured state, None while there is no robot.
        """
        self._node_state, self._pipeline = node_state, pipeline
        self._measured, self._follow = measured, follow
        self.entities = [(node.destroy_subscription, node.create_subscription(
            WholeBodyMessage, '~/whole_body_reference', self.on_message, raw=True,
            **overridable(REFERENCE)))]

    def on_message(self, data: bytes) -> None:
        """Follow the reference in a message, or log why not and keep the current one."""
        def read(_: int) -> bool:
            message = read_whole_body(data, self._node_state.parameters.frame_prefix)
            check_age(message, self._node_state.clock(), self._pipeline.parameters)
            follow_whole_body(self._pipeline, self._measured(), message)
            return True
        self._follow('whole-body reference', read)


def follow_whole_body(pipeline: TorquePipeline, measured: Any, message: WholeBodyMessage) -> None:
    """Follow the reference of a message; the torque is blended to it within its `blend`.

    :param measured: MeasuredSnapshot, None while there is no robot.
    :raise DynamicsError: the reference is refused; the current one continues.
    """
    p = pipeline.parameters
    check_follows(p, {WHOLE_BODY}, 'whole-body reference', pipeline.gate.state)
    robot = pipeline.controller.robot
    reference, blend = reference_of(message, robot, p, pipeline.now()), blend_of(message, p)
    controller = pipeline.controller.on_contacts(reference.contacts)
    controller.check_solved(measured.q, measured.v, reference)
    law_kernels.check_kernels(robot)
    pipeline.blend_to(controller, reference, blend)
