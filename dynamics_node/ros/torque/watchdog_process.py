"""Start the watchdog process, and notice what it does and how it ends.

It is started with the torque process and ends with it: it watches one process for its whole life.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.child_process import Start, start_child, wait_for_end
from dynamics_node.ros.process_link import Link, pair
from dynamics_node.ros.torque.watchdog import Ready, Takeover

START = 60.0    # [s] for it to start: it has to import rclpy
REPORT = 1.0    # [s] for the report of a takeover, after the end of the torque process
LONGEST = 15.0  # [s] for its last torques
MODULE = 'dynamics_node.ros.torque.watchdog_main'


class WatchdogSetup(NamedTuple):
    """The name, topics and scheduling of the node, for the watchdog."""

    name: str             # of the node
    namespace: str
    torque: str           # resolved name of ~/torque
    command: str          # of the command topic, '' if there is none
    priority: int         # of SCHED_FIFO, 0: none
    cores: Sequence[int]
    overrides: dict[str, Any]   # {parameter: value} of QoS


class WatchdogProcess:
    """The watchdog process, seen from the serving process.

    :ivar failure: how it ended while the torque process ran; '' otherwise.
    """

    def __init__(self, setup: WatchdogSetup, arguments: Sequence[str],
                 on_message: Callable[[], None], torque_process: int, memory: int,
                 watching: int, start: Start = start_child) -> None:
        """Start the process.

        :param arguments: arguments of the command line, for rclpy: log levels.
        :param on_message: called in a thread when the process has ended by itself.
        :param torque_process: its id; it has not been waited for yet.
        :param memory: file descriptor, see last_torque.create_memory.
        :param watching: file descriptor of the connection to the torque process.
        :param start: starts the process.
        """
        self.failure, self._on_message = '', on_message
        self._ready: Ready | None = None
        self._takeover: Takeover | None = None
        self._closing = self._ended = False
        self._changed = threading.Condition()   # of the four above
        ours, theirs = pair()
        with theirs, os.fdopen(os.pidfd_open(torque_process)) as watched:
            given = [theirs.fileno(), watched.fileno(), memory, watching]
            self._process = start(MODULE, given, [json.dumps(setup), *arguments])
        self._link = Link(ours, self._on_record, self._on_end)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def wait_until_ready(self) -> str:
        """Wait until it watches; return what real-time scheduling was granted.

        :raise DynamicsError: it has not started.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._ended, START)
            if self._ready is None:
                self._process.kill()
                raise DynamicsError(f'the watchdog process {self.failure or "does not start"}')
            return self._ready.realtime

    def end_of_torques(self, how: str) -> str:
        """Return how torques ended, after the torque process has ended in a given way."""
        with self._changed:
            self._changed.wait_for(lambda: self._takeover or self._ended, REPORT)
        if self._takeover is None:
            return f'{how}; no torque is published'
        if self._takeover.silence:
            how = f'stood still for {self._takeover.silence:.2f} s and was killed'
        return f'{how}; the watchdog publishes the last torques'

    def close(self) -> None:
        """Wait until it has ended, as it does after the torque process."""
        self._closing = True
        self._link.close()
        wait_for_end(self._process, LONGEST)

    # In the thread of the link -----------------------------------------------------------------

    def _on_record(self, record: Any) -> None:
        with self._changed:
            if isinstance(record, Ready):
                self._ready = record
            else:
                self._takeover = record
            self._changed.notify_all()

    def _on_end(self) -> None:
        if self._closing:
            return
        how = wait_for_end(self._process)
        with self._changed:
            self._ended = True
            if self._process.returncode or self._ready is None:
                self.failure = how   # it exits with 0 after the torque process
            self._changed.notify_all()
        self._on_message()
