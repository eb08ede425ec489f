"""Spin a node until a signal stops it."""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
from collections.abc import Callable

import rclpy
from rclpy.node import Node
from rclpy.task import Future

try:
    from rclpy.experimental import EventsExecutor as Executor
except ImportError:  # an older rclpy
    from rclpy.executors import SingleThreadedExecutor as Executor

STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)   # the last one: the terminal was closed
RARELY = 20_000  # objects between two garbage collections; messages form no reference cycles
KILL = 3         # signals after which the process ends at once


def spin(node: Node, until: Future | None = None,
         first: Callable[[], None] | None = None) -> None:
    """Process callbacks until shutdown, or until the future `until` is done.

    :param first: called in the executor before all callbacks.
    """
    executor = Executor(context=node.context)
    executor.add_node(node)
    if first is not None:
        executor.create_task(first)
    until = until or Future()
    gc.collect()
    gc.freeze()  # otherwise each collection visits all imported modules, which delays a reply
    gc.set_threshold(RARELY)
    try:
        while rclpy.ok(context=node.context) and not until.done():
            # Without a finite timeout the executor of the PyPI wheels uses a whole core and
            # processes nothing: its infinite deadline overflows.
            executor.spin_until_future_complete(until, timeout_sec=3600.0)
    finally:
        # It keeps all entities of the node until then. Without this they would be destroyed with
        # the last reference to it: later after an exception, or by another thread that has one.
        executor.shutdown()


def stop_requested() -> Future:
    """Return a Future that is done at a signal of STOP; they have no other effect from now on.

    Call rclpy.init with SignalHandlerOptions.NO: the handlers of rclpy would raise inside a
    callback and shut the context down, so that the last torque could not be published.
    """
    requested = Future()
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    # The number of the signal is written to this socket at once, in any thread; a handler in Python
    # would wait until the main thread returns from the executor.
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    for each in STOP:
        signal.signal(each, lambda *_: None)

    def wait() -> None:
        reader.recv(1)
        requested.set_result(writer)  # keeps the socket open
        for _ in range(KILL - 1):
            reader.recv(1)
        os._exit(1)
    threading.Thread(target=wait, daemon=True).start()
    return requested


def ignore_signals() -> None:
    """Ignore further signals, so that none interrupts the shutdown."""
    for each in STOP:
        signal.signal(each, signal.SIG_IGN)
