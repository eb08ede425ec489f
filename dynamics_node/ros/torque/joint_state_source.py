"""Receive the joint states of the serving process: from the torque process while it lives."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rclpy.node import Node
from rclpy.subscription import Subscription

from dynamics_node.ros.state.joint_state_bytes import Reading, ReceivedJointState
from dynamics_node.ros.state.joint_state_subscription import (
    JointStateSubscription,
    StampedReader,
)
from dynamics_node.ros.state.stamp_clock import StampClock
from dynamics_node.ros.torque.supervisor import TorqueSupervisor


class JointStateSource:
    """Joint states that the torque process received; once it has ended, an own subscription.

    Two subscriptions would cost the publisher and both processes time: a tenth of the delay from
    joint state to torque.
    """

    def __init__(self, node: Node, clock: StampClock, torque: TorqueSupervisor,
                 on_joint_state: Callable[[int, Reading | None, bytes], None]) -> None:
        """Subscribe to nothing.

        :param clock: stamps messages that have no stamp.
        :param on_joint_state: see JointStateSubscription, for the own subscription.
        """
        self._node, self._clock, self._torque = node, clock, torque
        self._on_joint_state = on_joint_state
        self._read = StampedReader(clock).read
        self._every = False
        self._own: JointStateSubscription | None = None
        self._closed = False
        self.entities = [(JointStateSource.close, self)]

    @property
    def asleep(self) -> Subscription | None:
        """The subscription that no executor shall wait for now, or None."""
        return self._own.asleep if self._own else None

    def waiting(self) -> Iterator[ReceivedJointState]:
        """Yield the joint states received since the last call."""
        if self._closed:
            return
        for stamp, data in self._torque.joint_states():
            yield ReceivedJointState(*self._read(data, stamp), data)
        if self._torque.ended and self._own is None:
            self._own = JointStateSubscription(self._node, self._clock, self._on_joint_state)
            self._own.set_awake('buffer', self._every)
        if self._own is not None:
            yield from self._own.waiting()

    def receive_every(self, every: bool) -> None:
        """Receive every joint state, or as many as fit into the queue of a subscription."""
        self._every = every   # the torque process does so by itself
        if self._own is not None:
            self._own.set_awake('buffer', every)

    def close(self) -> None:
        """Return no joint states from now on; destroy the own subscription."""
        self._closed = True
        for destroy, entity in self._own.entities if self._own else ():
            destroy(entity)
