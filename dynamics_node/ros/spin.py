"""How a node waits for work, and how it is told to stop."""

import gc
import os
import signal
import socket
import threading

import rclpy
from rclpy.task import Future

try:
    from rclpy.experimental import EventsExecutor as Executor
except ImportError:  # an older rclpy
    from rclpy.executors import SingleThreadedExecutor as Executor

STOP = (signal.SIGINT, signal.SIGTERM)
RARELY = 20_000  # objects between two collections; messages make no cycles
ENOUGH = 3  # signals: who sends a third one does not want to wait


def spin(node, until=None):
    """Serve until shutdown, or until the future `until` is done."""
    executor = Executor(context=node.context)
    executor.add_node(node)
    until = until or Future()
    gc.collect()
    gc.freeze()  # else each collection walks through all that was imported, amid an answer
    gc.set_threshold(RARELY)
    while rclpy.ok(context=node.context) and not until.done():
        # Without a finite timeout the executor of the PyPI wheels burns a core and serves nobody:
        # its infinite deadline overflows.
        executor.spin_until_future_complete(until, timeout_sec=3600.0)


def told_to_stop():
    """Return a Future that is done at SIGINT or SIGTERM, which do nothing else from now on.

    rclpy's own handlers would raise in the midst of a callback and take the context away, so that
    nothing could be published any more, no last message either: init with SignalHandlerOptions.NO.
    """
    told = Future()
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    # Whichever thread the signal meets, its number is written here at once; a handler in Python
    # would wait until the main thread comes back from the executor.
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    for each in STOP:
        signal.signal(each, lambda *_: None)

    def wait():
        reader.recv(1)
        told.set_result(writer)  # which stays open that way
        for _ in range(ENOUGH - 1):
            reader.recv(1)
        os._exit(1)
    threading.Thread(target=wait, daemon=True).start()
    return told


def ignore_signals():
    """Let no signal cut the ending short."""
    for each in STOP:
        signal.signal(each, signal.SIG_IGN)
