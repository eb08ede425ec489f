"""Watch the state of a floating base as a node does: same topics, frames and checks."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from dynamics_node.inspector.live_state import LiveBase
from dynamics_node.model.model import Model, base_joint
from dynamics_node.ros.parameters.declared import ModelParameters, NodeParameters
from dynamics_node.ros.state.base_state_subscription import BaseStateSubscription
from dynamics_node.ros.state.measured_state import NEVER, MeasuredState

SOURCES = {'odometry': 'odom', 'pose_and_twist': 'base_pose'}   # topic with the pose


class WatchedBase:
    """The newest base state of a node that runs in another process.

    :ivar measured_state, parameters: as in BaseStateOwner.
    """

    SUBSCRIPTIONS = 2   # callbacks of one read

    def __init__(self, node: Node, namespace: str, qos: QoSProfile) -> None:
        """Subscribe to nothing until `follow` finds a floating base.

        :param namespace: namespace of the watched node, without a slash at its end.
        """
        self.measured_state: Any = None
        self.parameters: Any = SimpleNamespace(base_state='odometry', frame_prefix='')
        self._topics = f'{namespace}/'
        self._subscription = BaseStateSubscription(node, self, self._topics, qos)
        self._stamp, self._arrived = int(NEVER), 0.0

    def clock(self) -> int:
        """Return the time for messages without a stamp [ns]."""
        return time.time_ns()

    def catch_up(self) -> None:
        """Do nothing: joint states are not kept here."""

    def follow(self, model: Model, parameters: NodeParameters | None) -> None:
        """Use the model and the parameters of the node; subscribe if its base floats.

        :param parameters: None while they are not known; then their defaults are used.
        """
        values = ModelParameters() if parameters is None else parameters.node
        used = SimpleNamespace(base_state=values.base_state, frame_prefix=values.frame_prefix)
        if used.base_state != self.parameters.base_state:   # of a node that was started anew
            self._subscription.close()
            self.measured_state = None
        state, self.parameters = self.measured_state, used
        if state is None:
            self.measured_state = MeasuredState(model)
        elif state.model is not model:
            self.measured_state = state.moved_to(model, state.missing_velocity, state.filter_time)
        self._subscription.robot_changed()

    def state(self) -> LiveBase | None:
        """Return the base state now; None if no base floats."""
        measured = self.measured_state
        joint = None if measured is None else base_joint(measured.model)
        if joint is None:
            return None
        topic = self._topics + SOURCES[self.parameters.base_state]
        refusal = ' '.join(self._subscription.refusals.values())
        stamp = int(measured.stamps[measured.model.joints.index(joint)])
        if stamp == NEVER:
            return LiveBase(joint.name, topic, refusal=refusal)
        if stamp != self._stamp:   # a stamp that is repeated is no new measurement
            self._stamp, self._arrived = stamp, time.monotonic()
        return LiveBase(joint.name, topic, measured.q[joint.q].copy(), measured.v[joint.v].copy(),
                        self._arrived, refusal)
