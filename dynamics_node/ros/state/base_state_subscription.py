"""Receive the state of a floating base: odometry, or a pose and a twist."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription

from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Model, base_joint
from dynamics_node.ros import convert
from dynamics_node.ros.frame_prefix import remove_prefix
from dynamics_node.ros.rclpy_internals import silence
from dynamics_node.ros.state.base_state import base_configuration, base_velocity
from dynamics_node.ros.topic_qos import SENSOR, overridable


class BaseStateOwner(Protocol):
    """The data that a BaseStateSubscription reads and changes, such as a NodeState."""

    parameters: Any       # with base_state and frame_prefix
    measured_state: Any   # MeasuredState; None while there is no robot

    def clock(self) -> int:
        """Return the time for messages without a stamp [ns]."""

    def catch_up(self) -> None:
        """Store the joint states that were received before."""


class BaseStateSubscription:
    """Subscriptions to `odom`, or to `base_pose` and `base_twist`, if the base floats.

    :ivar refusals: {message type: why its newest message was refused}.
    """

    def __init__(self, node: Node, node_state: BaseStateOwner, namespace: str = '',
                 qos: QoSProfile = SENSOR) -> None:
        """Subscribe to nothing until there is a robot.

        :param namespace: namespace of the topics, with a slash at its end; '': that of the node.
        """
        self._node, self._node_state = node, node_state
        self._namespace, self._qos = namespace, qos
        self._subscriptions: list[Subscription] = []
        self.refusals: dict[str, str] = {}
        self.entities = [(BaseStateSubscription.close, self)]

    def robot_changed(self) -> None:
        """Subscribe if the current robot has a floating base, otherwise to nothing."""
        state = self._node_state.measured_state
        if state is None or base_joint(state.model) is None:
            self.close()
        elif not self._subscriptions:
            topics = ([(Odometry, 'odom', self.on_odometry)]
                      if self._node_state.parameters.base_state == 'odometry' else
                      [(PoseStamped, 'base_pose', self.on_pose),
                       (TwistStamped, 'base_twist', self.on_twist)])
            self._subscriptions = [
                self._node.create_subscription(kind, self._namespace + topic, callback,
                                               **overridable(self._qos))
                for kind, topic, callback in topics]

    def close(self) -> None:
        """Subscribe to nothing from now on."""
        subscriptions, self._subscriptions = self._subscriptions, []
        for each in subscriptions:
            silence(each)   # the executor may still call it
            self._node.destroy_subscription(each)
        self.refusals.clear()

    def on_odometry(self, message: Odometry) -> None:
        """Store pose and twist of the base, both of child_frame_id."""
        twist = message.twist.twist
        self._take(message, lambda model: (
            base_configuration(model, convert.xyz(message.pose.pose.position),
                               convert.xyzw(message.pose.pose.orientation),
                               message.child_frame_id),
            base_velocity(model, convert.xyz(twist.linear), convert.xyz(twist.angular),
                          message.child_frame_id)))

    def on_pose(self, message: PoseStamped) -> None:
        """Store the pose of the base link in the world; its twist is zero until one is received."""
        self._take(message, lambda model: (
            base_configuration(model, convert.xyz(message.pose.position),
                               convert.xyzw(message.pose.orientation)),
            np.nan_to_num(self._node_state.measured_state.v[self._joint(model).v])))

    @staticmethod
    def _joint(model: Model) -> Any:
        return base_joint(model)

    def on_twist(self, message: TwistStamped) -> None:
        """Store the twist of the link header.frame_id, in its own axes."""
        self._take(message, lambda model: (
            None, base_velocity(model, convert.xyz(message.twist.linear),
                                convert.xyz(message.twist.angular), message.header.frame_id)))

    def _take(self, message: Any, state_of: Callable[[Model], tuple]) -> None:
        """Store state_of(model), (q or None, v) of the base; count refused messages."""
        remove_prefix(self._node_state.parameters.frame_prefix, message)
        self._node_state.catch_up()
        state = self._node_state.measured_state
        joint = base_joint(state.model) if state is not None else None
        if joint is None:
            return
        kind = type(message).__name__
        try:
            q, v = state_of(state.model)
        except DynamicsError as error:
            self.refusals[kind] = str(error)
            state.counts['base refused'] += 1
            return
        self.refusals.pop(kind, None)
        if q is None:
            state.take_velocity(joint.name, v)
        else:
            stamp = convert.nanoseconds(message.header.stamp) or self._node_state.clock()
            state.take_joint(stamp, joint.name, q, v)
