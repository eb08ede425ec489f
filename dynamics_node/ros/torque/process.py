"""Start the torque process, send it commands, and notice its end.

A torque process that does not reply within PATIENCE is killed, and then treated like one that has
ended. Only the lifecycle transition `configure` starts a new one.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.keys import KernelKey
from dynamics_node.ros.child_process import Start, start_child, wait_for_end
from dynamics_node.ros.process_link import Link, pair
from dynamics_node.ros.state.joint_state_ring import RingReader, create_memory
from dynamics_node.ros.torque.last_torque import create_memory as create_last_torque
from dynamics_node.ros.torque.records import (
    START_AGAIN,
    Command,
    FrameWanted,
    GoalEnd,
    GoalFeedback,
    KernelCached,
    KernelWanted,
    LogLine,
    Reply,
    Setup,
    TorqueStatus,
    status_without_process,
)
from dynamics_node.ros.torque.watchdog_process import WatchdogProcess, WatchdogSetup

PATIENCE = 5.0    # [s] for a reply
LOOK = 0.1        # [s] between two looks for it
START = 60.0      # [s] for the first reply: the process has to import rclpy and NumPy
MODULE = 'dynamics_node.ros.torque.process_main'


class TorqueProcess:
    """The torque process, seen from the serving process.

    :ivar failure: why there is no torque process; '' while there is one.
    :ivar joint_states: RingReader of the joint states that the process receives.
    :ivar watchdog: WatchdogProcess.
    """

    def __init__(self, setup: Setup, watchdog: WatchdogSetup, arguments: Sequence[str],
                 on_message: Callable[[], None],
                 on_goal: Callable[[], None] = lambda: None,
                 start: Start = start_child) -> None:
        """Start the process, and its watchdog.

        :param arguments: arguments of the command line, for rclpy: log levels.
        :param on_message: called in a thread when a message has arrived, or the process has ended.
        :param on_goal: likewise for a message about a goal.
        :param start: starts both.
        """
        self.failure, self._on_message, self._on_goal = '', on_message, on_goal
        self._numbers = itertools.count()
        self._replies: dict[int, Reply] = {}
        self._changed = threading.Condition()   # a reply has arrived, or the process has ended
        self._log: deque[LogLine] = deque()
        self._wanted: deque[KernelKey] = deque()
        self._frames: dict[str, FrameWanted] = {}   # the newest of each topic
        self._goals: deque[GoalFeedback | GoalEnd] = deque()
        self._status: TorqueStatus | None = None
        self._patience = START
        self._closing = False
        ours, theirs = pair()
        memory, last_torque = create_memory(), create_last_torque()
        self.joint_states = RingReader(memory)
        watched, watching = pair()
        # Not needed in this process.
        with theirs, watched, watching, os.fdopen(memory), os.fdopen(last_torque):
            given = [theirs.fileno(), memory, last_torque, watched.fileno()]
            self._process = start(MODULE, given, arguments)
            self.watchdog = WatchdogProcess(watchdog, arguments, on_message, self._process.pid,
                                            last_torque, watching.fileno(), start)
        self._link = Link(ours, self._on_record, self._on_end)
        self._link.send(setup)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended; `failure` follows, with what the watchdog did."""
        return self._process.poll() is not None

    @property
    def status(self) -> TorqueStatus | None:
        """The status received last; None before the first one."""
        return status_without_process(self.failure) if self.failure else self._status

    def log_lines(self) -> list[LogLine]:
        """Return the lines for the log since the last call."""
        return [self._log.popleft() for _ in range(len(self._log))]

    def wanted_kernels(self) -> list[KernelKey]:
        """Return the kernels that the process needs, since the last call."""
        return [self._wanted.popleft() for _ in range(len(self._wanted))]

    def wanted_frames(self) -> list[FrameWanted]:
        """Return the references in frames that are not links, the newest of each topic."""
        return [self._frames.pop(topic) for topic in list(self._frames)]

    def goal_records(self) -> list[GoalFeedback | GoalEnd]:
        """Return the messages about goals since the last call."""
        return [self._goals.popleft() for _ in range(len(self._goals))]

    def announce_kernel(self, key: KernelKey) -> None:
        """Tell the process that a kernel is in the cache; may be called in any thread."""
        self._link.send(KernelCached(key))

    # Commands --------------------------------------------------------------------------------

    def call(self, name: str, *arguments: Any) -> Any:
        """Let the process carry out a command, between two torques; return its result.

        :raise DynamicsError: the process refuses, or there is none any more.
        """
        number = next(self._numbers)
        self._link.send(Command(number, name, arguments))
        if not self._wait_for_reply(number):
            self._kill(f'did not reply within {self._patience:g} s')
        self._patience = PATIENCE
        if self.failure:
            raise DynamicsError(self.failure)
        reply = self._replies.pop(number)
        if reply.refusal:
            raise DynamicsError(reply.refusal)
        return reply.result

    def _wait_for_reply(self, number: int) -> bool:
        """Return whether the reply, or the end of the process, came in time.

        Looks are counted, not seconds: if this process was stopped meanwhile (SIGSTOP, a debugger,
        a paused container), it still reads the reply afterwards.
        """
        for _ in range(round(self._patience / LOOK)):
            with self._changed:
                if self._changed.wait_for(lambda: self.failure or number in self._replies, LOOK):
                    return True
        return False

    def refresh(self) -> None:
        """Ask for the status."""
        with suppress(DynamicsError):   # it has ended: the status tells
            self._status = self.call('status')

    def close(self) -> None:
        """End the process: it publishes the ramp to the safe torque first."""
        self._closing = True
        self._link.close()
        wait_for_end(self._process)
        self.watchdog.close()

    # In the thread of the link -----------------------------------------------------------------

    def _on_record(self, record: Any) -> None:
        if isinstance(record, Reply):
            with self._changed:
                self._replies[record.number] = record
                self._changed.notify_all()
            return
        if isinstance(record, (GoalFeedback, GoalEnd)):
            self._goals.append(record)
            self._on_goal()
            return
        if isinstance(record, LogLine):
            self._log.append(record)
        elif isinstance(record, KernelWanted):
            self._wanted.append(record.key)
        elif isinstance(record, FrameWanted):
            self._frames[record.topic] = record
        else:
            self._status = record
        self._on_message()

    def _on_end(self) -> None:
        if self._closing:
            return
        how = wait_for_end(self._process)
        self._fail(self.watchdog.end_of_torques(how))

    def _kill(self, why: str) -> None:
        self._process.kill()
        self._fail(f'{why} and was killed; no torque is published')

    def _fail(self, how: str) -> None:
        with self._changed:
            self.failure = self.failure or (
                f'the torque process {how}. {START_AGAIN}')
            self._changed.notify_all()
        self._on_message()
