"""Call services of a dynamics node; wait for their replies, or return Futures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from rclpy.client import Client
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future

from dynamics_node.ros.client_replies import pass_on, result_of
from dynamics_node.ros.services.table import SERVICES

MANY_REPLIES = QoSProfile(depth=1000)  # the queue of a client also gets replies to other clients
Reply: TypeAlias = Any   # SimpleNamespace of the reply's fields; a Future of it with wait=False


class ClientCalls:
    """The clients of the services of one node."""

    def __init__(self, node: Node, name: str, timeout: float) -> None:
        """Prepare calls from a node; arguments as in DynamicsClient."""
        self._node, self._name, self._timeout = node, name, timeout
        self._clients: dict[str, Client] = {}

    def call(self, name: str, wait: bool, read: Callable | None = None, /,
             **fields: Any) -> Reply:
        """Call a service with the fields of its request; wait for the reply, or return a Future.

        :param read: converts the response to the result for the caller; None: result_of.
        :raise DynamicsError: the reason of a refusal.
        :raise TimeoutError: there is no such service, or no reply in time.
        """
        read, deadline = read or result_of, time.monotonic() + self._timeout
        client = self.client_of(name)
        if wait and not client.service_is_ready() and not client.wait_for_service(self._timeout):
            raise TimeoutError(f"no service '{client.srv_name}' after {self._timeout:g} s: is the "
                               'node running, configured, and in this namespace?')
        raw = client.call_async(SERVICES[name].kind.Request(**fields))
        reply = Future()
        raw.add_done_callback(lambda done: pass_on(done, reply, read))
        if not wait:
            return reply
        wait_for(self._node, [raw], deadline)
        if not raw.done():
            client.remove_pending_request(raw)
            raise TimeoutError(f"'{client.srv_name}' did not reply within {self._timeout:g} s; in "
                               'a callback of a node that one thread spins, use wait=False')
        return read(raw.result())

    def client_of(self, name: str) -> Client:
        """Return the client of a service; it is created at the first call."""
        client = self._clients.get(name)
        if client is None:
            client = self._clients[name] = self._node.create_client(
                SERVICES[name].kind, f'{self._name}/{name}', qos_profile=MANY_REPLIES)
        return client


def wait_for(node: Node, futures: Sequence[Future], deadline: float) -> None:
    """Wait until all futures are done, at most until a deadline of time.monotonic.

    :param node: its executor sets the futures; if nothing spins the node, it is spun here.
    """
    if not futures:
        return
    all_done, arrived, waiting = Future(), threading.Event(), set(range(len(futures)))

    def on_done(number: int) -> None:
        waiting.discard(number)   # atomic: futures may be set in several threads
        if not waiting and not arrived.is_set():
            arrived.set()
            all_done.set_result(None)
    for number, future in enumerate(futures):
        future.add_done_callback(lambda _, number=number: on_done(number))
    remaining = max(0.0, deadline - time.monotonic())
    if node.executor is None:  # nothing spins the node
        executor = SingleThreadedExecutor(context=node.context)
        executor.add_node(node)
        executor.spin_until_future_complete(all_done, remaining)
        executor.shutdown()
        node.executor = None   # else it is set until garbage is collected, but does not spin
    else:
        arrived.wait(remaining)
