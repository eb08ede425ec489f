"""Receive joint states: by a callback for each, or from a queue that is read on demand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from rclpy.node import Node
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from dynamics_node.ros.rclpy_internals import receive_info, take_waiting
from dynamics_node.ros.state.joint_publishers import JointPublishers
from dynamics_node.ros.state.joint_state_bytes import (
    JointStateReader,
    Reading,
    ReceivedJointState,
)
from dynamics_node.ros.state.stamp_clock import StampClock
from dynamics_node.ros.topic_qos import STATES, overridable

MOST_WAITING = 1000   # messages read in one call
TOPIC = 'joint_states'
NUMBER = 'publication_sequence_number'


class JointStateSubscription:
    """The subscription to `joint_states`.

    A callback for every joint state costs 2 % of a core at 100 Hz, even an empty one. While no
    torque is computed and the observer is off, joint states stay in the queue of the middleware and
    are read with `waiting`.

    :ivar awake: whether `on_joint_state` is called for every joint state.
    :ivar publishers: JointPublishers; give it the joints that count.
    """

    def __init__(self, node: Node, clock: StampClock,
                 on_joint_state: Callable[[int, Reading | None, bytes], None],
                 on_set_back: Callable[[], None] = lambda: None) -> None:
        """Subscribe, not awake.

        :param clock: stamps messages that have no stamp.
        :param on_joint_state: called with the fields of ReceivedJointState while awake.
        :param on_set_back: called before it if a second publisher may have the same joint.
        """
        self._node, self._on_joint_state, self._on_set_back = node, on_joint_state, on_set_back
        self.publishers = JointPublishers(time.monotonic)
        self.awake, self._users = False, set[str]()
        self._read = StampedReader(clock).read
        self._subscription: Subscription | None = node.create_subscription(
            JointState, TOPIC, self._on_message, raw=True, **overridable(STATES))
        receive_info(self._subscription)
        self.entities = [(node.destroy_subscription, self._subscription),
                         (JointStateSubscription.close, self)]

    @property
    def asleep(self) -> Subscription | None:
        """The subscription that no executor shall wait for now, or None."""
        return None if self.awake else self._subscription

    def set_awake(self, user: str, awake: bool) -> None:
        """Call on_joint_state for every joint state as long as at least one user needs it.

        Call this after the waiting joint states have been read.
        """
        (self._users.add if awake else self._users.discard)(user)
        if bool(self._users) is not self.awake:
            self.awake = not self.awake
            if self._node.executor is not None:
                self._node.executor.wake()  # it then reads node.subscriptions again

    def close(self) -> None:
        """Return no joint states from now on."""
        self._subscription = None

    def waiting(self) -> Iterator[ReceivedJointState]:
        """Yield the joint states in the queue; none while awake."""
        if not self.awake and self._subscription is not None:
            for data, info in take_waiting(self._subscription, JointState, MOST_WAITING):
                stamp, reading = self._read(data, info['received_timestamp'])
                if reading is not None:
                    self.publishers.note(reading.names, info[NUMBER])
                yield ReceivedJointState(stamp, reading, data)

    def disputed(self) -> str:
        """Return which joints two publishers have, and the publishers; '' if there are none.

        While one publisher alone is in the graph, one step back of its numbers is a restart.
        """
        topic = self._subscription.topic_name if self._subscription is not None else TOPIC
        joints = self.publishers.disputed(1 if self._node.count_publishers(topic) > 1 else 2)
        if not joints:
            return ''
        names = {f"{each.node_namespace.rstrip('/')}/{each.node_name}"
                 for each in self._node.get_publishers_info_by_topic(topic)}
        return (f'two publishers of {topic} have the same joints: {", ".join(joints)}; publishers '
                f'are {", ".join(sorted(names))}')

    def _on_message(self, *received: Any) -> None:
        data, info = received if len(received) == 2 else received[0]
        if self._subscription is not None:
            stamp, reading = self._read(data)
            if reading is not None and not self.publishers.note(reading.names, info[NUMBER]):
                self._on_set_back()
            self._on_joint_state(stamp, reading, data)


class StampedReader:
    """Read joint states; give a stamp to those without."""

    def __init__(self, clock: StampClock) -> None:
        """Take the clock that stamps messages; in simulated time it also receives their stamps."""
        self._clock, self._reader = clock, JointStateReader()

    def read(self, data: bytes, arrived: int = 0) -> tuple[int, Reading | None]:
        """Return stamp [ns] and content of a message; 0, None if it is not a joint state.

        :param arrived: stamp of a message that has none [ns], 0: now.
        """
        try:
            reading = self._reader.read(data)
        except Exception:  # rclpy documents no exception for bytes that are not a joint state
            return 0, None
        if self._clock.simulated:
            arrived = 0  # on another clock
            if reading.stamp:
                self._clock.note_stamp(reading.stamp)
        return reading.stamp or arrived or self._clock(), reading
