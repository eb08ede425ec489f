"""Share the last torque and a sign of life of the torque process with the watchdog.

The torque process writes into shared memory, the watchdog reads; neither waits.

    head:   sign of life (a counter), whether torques are published, safety.watchdog_time [ns]
    2 slots, written by turns: number, size, checksum of a record; the record

A record has all that the watchdog needs to go on. It is written before its torque is published: if
the process is killed in between, the torque that was published is still within the slew limits of
the one in the record. If it is killed while it writes a record, the other slot has the one before.
"""

from __future__ import annotations

import mmap
import os
import pickle
import struct
from array import array
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from dynamics_node.errors import DynamicsError
from dynamics_node.safety.settings import SafetySettings

HEAD = 64                        # bytes
LIFE, ACTIVE, TIME = range(3)    # words of 8 bytes in the head
SLOT = 1 << 20                   # bytes; memory that is not written does not exist
RECORD = struct.Struct('=QIII')  # number, sizes of the rules and of the numbers, checksum
STAMP = struct.Struct('=q')


class ExitRules(NamedTuple):
    """What the last torques must comply with; vectors have one entry per joint."""

    names: Sequence[str]      # of the joints, in the order of publication
    effort: Sequence[float]   # limits [N m or N]
    slew: Sequence[float]     # [N m/s or N/s]
    settings: SafetySettings


class LastTorque(NamedTuple):
    """The torque released last."""

    rules: ExitRules
    stamp: int                 # [ns] of the state that it was computed from
    torque: tuple[float, ...]
    gravity: tuple[float, ...]   # that balances gravity at the last valid state


def create_memory() -> int:
    """Return the file descriptor of new shared memory; it ends with the last process."""
    memory = os.memfd_create('last torque')
    os.ftruncate(memory, HEAD + 2 * SLOT)
    return memory


class LastTorqueWriter:
    """Write the last torque into shared memory.

    :ivar active: whether the watchdog has to watch.
    """

    def __init__(self, memory: int) -> None:
        """Take the file descriptor of create_memory."""
        self._memory = mmap.mmap(memory, HEAD + 2 * SLOT)
        self._head = _words(self._memory)
        self.active, self._life, self._number = False, 0, 0
        self._rules, self._time = b'', 0

    def use(self, rules: ExitRules) -> None:
        """Write other rules with the next torques.

        :raise DynamicsError: they are too long.
        """
        data = pickle.dumps(rules, pickle.HIGHEST_PROTOCOL)
        if RECORD.size + len(data) + STAMP.size + 16 * len(rules.names) > SLOT:
            raise DynamicsError('the names of the joints are too long for the watchdog; expected '
                                'less than a megabyte, or set safety.watchdog_time to 0')
        self._rules, self._time = data, round(rules.settings.watchdog_time * 1e9)

    def write(self, stamp: int, torque: array[float], gravity: array[float]) -> None:
        """Write a torque; the watchdog watches from now on.

        :param stamp: [ns] of the state that it was computed from.
        """
        numbers = STAMP.pack(stamp) + torque.tobytes() + gravity.tobytes()
        self._number += 1
        at = HEAD + self._number % 2 * SLOT
        RECORD.pack_into(self._memory, at, self._number, len(self._rules), len(numbers),
                         _checksum(self._number, self._rules, numbers))
        at += RECORD.size
        self._memory[at:at + len(self._rules)] = self._rules
        at += len(self._rules)
        self._memory[at:at + len(numbers)] = numbers
        self.renew()
        if not self.active:
            self._head[TIME] = self._time
            self._head[ACTIVE] = self.active = True

    def renew(self) -> None:
        """Renew the sign of life."""
        self._life += 1
        self._head[LIFE] = self._life

    def rest(self) -> None:
        """End the watch: no torque will be published."""
        self._head[ACTIVE] = self.active = False


class LastTorqueReader:
    """Read the sign of life and the last torque from shared memory."""

    def __init__(self, memory: int) -> None:
        """Take the file descriptor of create_memory."""
        self._memory = mmap.mmap(memory, HEAD + 2 * SLOT, access=mmap.ACCESS_READ)
        self._head = _words(self._memory)

    @property
    def life(self) -> int:
        """The sign of life: a number that changes as long as the loop runs."""
        return self._head[LIFE]

    @property
    def active(self) -> bool:
        """Whether torques are published, so that the loop has to run."""
        return bool(self._head[ACTIVE])

    @property
    def time(self) -> float:
        """The time for which the loop may stand still [s]."""
        return self._head[TIME] * 1e-9

    def last(self) -> LastTorque:
        """Return the torque released last; there is one as soon as the watch has begun."""
        _, rules, numbers = max(filter(None, map(self._record, range(2))))
        values = array('d', numbers[STAMP.size:])
        half = len(values) // 2
        stamp, = STAMP.unpack_from(numbers)
        return LastTorque(pickle.loads(rules), stamp, tuple(values[:half]), tuple(values[half:]))

    def _record(self, slot: int) -> tuple[int, bytes, bytes] | None:
        """Return number, rules and numbers of the record in a slot, None if it is incomplete."""
        at = HEAD + slot * SLOT
        number, rules, numbers, checksum = RECORD.unpack_from(self._memory, at)
        middle = at + RECORD.size + rules
        parts = self._memory[at + RECORD.size:middle], self._memory[middle:middle + numbers]
        return (number, *parts) if number and _checksum(number, *parts) == checksum else None


def _words(memory: mmap.mmap) -> memoryview:
    """Return the head as words, each of which is read and written as a whole."""
    return memoryview(memory)[:HEAD].cast('q')


def _checksum(number: int, *parts: bytes) -> int:
    checksum = number & 0xFFFFFFFF
    for part in parts:
        checksum = crc32(part, checksum)
    return checksum
