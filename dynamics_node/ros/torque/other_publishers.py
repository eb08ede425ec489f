"""Find publishers of other nodes on the topics of torques."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.node import Node

WHOLE = 1.0   # [s] between two checks of all publishers


class OtherPublishers:
    """Find publishers that belong neither to the node nor to its watchdog.

    The torque loop checks this often. Reading all publishers of a topic takes 0.3 ms, nine times as
    long as counting them. So they are counted; all are read when their number has changed since
    the last full check, and every WHOLE seconds.
    """

    def __init__(self, node: Node, watchdog: Callable[[], set[bytes]],
                 clock: Callable[[], float] = time.monotonic) -> None:
        """Know no publisher yet.

        :param watchdog: returns the gids of the watchdog's publishers.
        :param clock: returns a steady time [s].
        """
        self._node, self._watchdog, self._clock = node, watchdog, clock
        self._ours: dict[str, tuple[int, float]] = {}   # topic: number of publishers, time [s]

    def forget(self) -> None:
        """Read all publishers again with the next call."""
        self._ours.clear()

    def on(self, topic: str) -> bool:
        """Return whether a topic has a publisher of another node."""
        count, now = self._node.count_publishers(topic), self._clock()
        if topic in self._ours:
            ours, read = self._ours[topic]
            if count == ours and now - read < WHOLE:
                return False
        watchdog = self._watchdog()
        found = self._node.get_publishers_info_by_topic(topic)
        other = sum(bytes(each.endpoint_gid) not in watchdog for each in found) > 1
        if other:
            self._ours.pop(topic, None)
        else:
            self._ours[topic] = len(found), now
        return other
