"""Run the torque process; the serving process starts it with one end of their connection.

The process ends, after the ramp to the safe torque, when the serving process has ended or has
closed the connection, and at SIGINT, SIGTERM or SIGHUP.
"""

from __future__ import annotations

import socket
import sys
import threading
from collections import deque
from typing import Any

import rclpy
import scipy.linalg  # noqa: F401 - see linalg.py: no torque waits for it
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from dynamics_node.kernels import delegated_compilation
from dynamics_node.kernels.keys import KernelKey
from dynamics_node.ros.child_process import LAST, exit_after, exit_now, set_name
from dynamics_node.ros.process_link import Link
from dynamics_node.ros.spin import ignore_signals, spin, stop_requested
from dynamics_node.ros.state.joint_state_ring import RingWriter
from dynamics_node.ros.torque.records import (
    Command,
    GoalEnd,
    KernelCached,
    KernelWanted,
    Reply,
    Setup,
)
from dynamics_node.ros.torque.torque_node import TorqueNode
from dynamics_node.ros.torque.watched_loop import WatchedLoop

KERNEL = 30.0   # [s] to wait for the serving process to compile one; then it is compiled here


class _Received:
    """Records of the serving process: one Setup, then Commands for the executor of the node."""

    def __init__(self, stop: Future) -> None:
        self._stop, self._commands = stop, deque[Command]()
        self._setup: Setup | None = None
        self._arrived = threading.Event()   # the setup, or the end of the connection
        self._node: Any = None   # TorqueNode
        self._cached: dict[KernelKey, threading.Event] = {}

    def setup(self) -> Setup | None:
        """Wait for the Setup and return it; None if the connection has ended."""
        self._arrived.wait()
        return self._setup

    def serve(self, node: TorqueNode) -> None:
        """Pass the commands on to a node from now on; call this in its executor."""
        self._node = node
        self._execute()

    def wait_for_kernel(self, link: Link, key: KernelKey) -> None:
        """Let the serving process compile a kernel; return when it is in the cache."""
        cached = self._cached.setdefault(key, threading.Event())
        if link.send(KernelWanted(key)):
            cached.wait(KERNEL)

    def on_record(self, record: Any) -> None:
        """Receive a record, in the thread of the link."""
        if isinstance(record, Setup):
            self._setup = record
            self._arrived.set()
            return
        if isinstance(record, KernelCached):
            self._cached.setdefault(record.key, threading.Event()).set()
            return
        self._commands.append(record)
        executor = self._node and self._node.executor
        if executor is not None:   # at the end of the process there is none
            executor.create_task(self._execute)

    def on_end(self) -> None:
        """Stop: the serving process has ended; called in the thread of the link."""
        self._arrived.set()
        if not self._stop.done():
            self._stop.set_result(None)

    def _execute(self) -> None:
        while self._commands:
            self._node.execute(self._commands.popleft())


def main() -> None:
    """Run the process.

    Arguments: file descriptors of the connection, of the memory for joint states, of the memory for
    the last torque, of the connection to the watchdog; arguments for rclpy.
    """
    set_name('dynamics_torque')
    connection, joint_states, last_torque, watchdog = map(int, sys.argv[1:5])
    stop = stop_requested()
    received = _Received(stop)
    link = Link(socket.socket(fileno=connection), received.on_record, received.on_end)
    delegated_compilation.use(lambda key: received.wait_for_kernel(link, key))
    setup = received.setup()
    if setup is None:
        return
    rclpy.init(args=sys.argv[5:], signal_handler_options=SignalHandlerOptions.NO)
    # The serving process waits for a Reply, and a client for the end of its goal; they can do
    # without a status or a line of the log.
    node = TorqueNode(setup,
                      lambda record: link.send(record, keep=isinstance(record, (Reply, GoalEnd))),
                      RingWriter(joint_states),
                      WatchedLoop(last_torque, socket.socket(fileno=watchdog)))
    braked = Future()

    def brake() -> None:
        received.serve(node)   # commands that came while there was no executor
        node.brake(lambda: braked.set_result(None))
    try:
        spin(node, until=stop, first=lambda: received.serve(node))
        spin(node, until=braked, first=brake)
    finally:
        ignore_signals()
        node.cleanup()
        exit_after(LAST)   # the last torque is out
        node.destroy_node()
        rclpy.try_shutdown()
        link.close()
    exit_now(0)   # LLVM cannot be stopped while it compiles a kernel
