"""Connect the torque process to its watchdog: last torque, sign of life, end of the watchdog."""

from __future__ import annotations

import pickle
import select
import socket
from collections.abc import Sequence
from contextlib import suppress

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.torque.last_torque import ExitRules, LastTorqueWriter
from dynamics_node.ros.torque.records import START_AGAIN
from dynamics_node.safety.records import LastValid

WAKE = b'\x01'
MOST = 1 << 16   # bytes of a message of the watchdog


class WatchedLoop:
    """The loop of the torque process, watched by the watchdog while torques are published."""

    def __init__(self, memory: int, watchdog: socket.socket) -> None:
        """Begin without torques.

        :param memory: file descriptor, see last_torque.create_memory.
        :param watchdog: connection to the watchdog: wakes it; closed when it has ended.
        """
        self._writer, self._watchdog = LastTorqueWriter(memory), watchdog
        watchdog.setblocking(False)
        self._publishers: set[bytes] = set()
        self.renew, self.rest = self._writer.renew, self._writer.rest
        self._on = False

    def use(self, rules: ExitRules) -> None:
        """Let the watchdog comply with other rules.

        :raise DynamicsError: the watchdog has ended, or the rules are too long for it.
        """
        self._on = rules.limits.settings.watchdog_time > 0.0
        if self._on:
            if self._ended():
                raise DynamicsError(f'the watchdog process has ended. {START_AGAIN}')
            self._writer.use(rules)

    def show(self, stamp: int, last_valid: LastValid, gravity: Sequence[float]) -> None:
        """Show the watchdog a torque that is about to be published; see LastTorqueWriter.write."""
        if self._on:
            asleep = not self._writer.active
            self._writer.write(stamp, last_valid, gravity)
            if asleep:
                with suppress(OSError):   # it has ended: a healthy arm goes on
                    self._watchdog.send(WAKE)

    def publishers(self) -> set[bytes]:
        """Return the gids of the watchdog's publishers; empty until it has started."""
        with suppress(OSError):   # nothing new, or ended
            if data := self._watchdog.recv(MOST):
                self._publishers = pickle.loads(data)
        return self._publishers

    def _ended(self) -> bool:
        """Return whether the watchdog has ended."""
        poll = select.poll()
        poll.register(self._watchdog, 0)
        return bool(poll.poll(0))
