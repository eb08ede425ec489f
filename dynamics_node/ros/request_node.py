"""Create a ROS node for requests to another process, which one thread uses at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

CLOSING = 1.0    # [s] to wait at the end for a request that is carried out
ENDED = 'refused: the inspector ends'


class RequestNode:
    """A ROS node, and a lock for its requests. rclpy must be initialised."""

    def __init__(self, purpose: str) -> None:
        """Create the node; the purpose is a part of its name."""
        self.node: Node = rclpy.create_node(f'dynamics_node_inspector_{purpose}',
                                            start_parameter_services=False)
        self._lock, self.closed = threading.Lock(), False

    def answer(self, request: Callable[[], str]) -> str:
        """Return the answer to a request, which is carried out after those before."""
        with self._lock:
            return ENDED if self.closed else request()

    def spin_until(self, future: Any, timeout: float) -> bool:
        """Spin until a future is done; return whether it is."""
        executor = SingleThreadedExecutor()
        executor.add_node(self.node)
        try:
            executor.spin_until_future_complete(future, timeout)
        finally:
            executor.remove_node(self.node)
            executor.shutdown()
        return future.done()

    def close(self) -> None:
        """Refuse later requests; one that takes long keeps its node until the process ends."""
        self.closed = True
        if self._lock.acquire(timeout=CLOSING):
            self.node.destroy_node()
            self._lock.release()
