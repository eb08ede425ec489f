"""Share the last torque and a sign of life of the torque process with the watchdog.

The torque process writes into shared memory, the watchdog reads; neither waits.

    head:     sign of life (a counter), whether torques are published, safety.watchdog_time [ns]
    2 slots for rules, 2 slots for torques: number, number of the rules, size and checksum of a
              record; the record

The rules change rarely and are long: they have the model, with which the watchdog brakes the arm.
Rules and torque together have all that the watchdog needs to go on. A torque is written before it
is published: if the process is killed in between, the torque that was published is still within the
slew limits of the one in the record. If it is killed while it writes a record, the other slot still
has the previous one: torques are written to the two slots alternately, and rules never to the slot
that the last torque uses.
"""

from __future__ import annotations

import mmap
import os
import pickle
import struct
import time
from array import array
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from dynamics_node.control.controller import Controller
from dynamics_node.errors import DynamicsError
from dynamics_node.safety.gate_limits import GateLimits
from dynamics_node.safety.records import LastValid

HEAD = 64                        # bytes
LIFE, ACTIVE, TIME = range(3)    # words of 8 bytes in the head
SLOT = 1 << 20                   # bytes; memory that is never written is not allocated
RULES, TORQUES = 0, 2            # first slots of each kind
SIZE = HEAD + 4 * SLOT
RECORD = struct.Struct('=QQII')  # number, number of the rules, size, checksum
FIRST = struct.Struct('=qdd')    # stamp [ns], age of the state [s], time of writing [s]; then
                                 # position, v, torque and gravity, each a double per joint


class ExitRules(NamedTuple):
    """What the last torques must comply with, and the model that they are computed with."""

    names: Sequence[str]      # of the published joints, in the order of publication
    places: Sequence[int]     # of these joints in v
    limits: GateLimits
    controller: Controller | None   # without kernels; None: its motion cannot be predicted


class LastTorque(NamedTuple):
    """The torque released last."""

    rules: ExitRules
    stamp: int                   # [ns] of the state that it was computed from
    last_valid: LastValid        # the last valid joint state, and the torque
    gravity: Sequence[float]     # that balances gravity there, nv entries
    written: float               # [s] of the steady clock of the machine


def create_memory() -> int:
    """Return the file descriptor of new shared memory; it ends with the last process."""
    memory = os.memfd_create('last torque')
    os.ftruncate(memory, SIZE)
    return memory


class LastTorqueWriter:
    """Write the last torque into shared memory.

    :ivar active: whether the watchdog has to watch.
    """

    def __init__(self, memory: int) -> None:
        """Take the file descriptor of create_memory."""
        self._memory = mmap.mmap(memory, SIZE)
        self._head = _words(self._memory)
        self.active, self._life, self._number, self._rules = False, 0, 0, 0
        self._time = 0
        self._size, self._packed = -1, FIRST   # number of joints, and struct, of the last torque
        self._slot = self._used = 0   # slots of the newest rules, and of those of the last torque

    def use(self, rules: ExitRules) -> None:
        """Write other rules; they apply from the next torque on.

        :raise DynamicsError: they are too long.
        """
        data = pickle.dumps(rules, pickle.HIGHEST_PROTOCOL)
        if RECORD.size + len(data) > SLOT:
            raise DynamicsError(f'the model has {len(data)} bytes, too long for the watchdog; '
                                f'expected at most {SLOT - RECORD.size}, or set '
                                'safety.watchdog_time to 0')
        self._rules += 1
        self._slot = 1 - self._used
        self._put(RULES + self._slot, self._rules, self._rules, data)
        self._time = round(rules.limits.settings.watchdog_time * 1e9)

    def write(self, stamp: int, last_valid: LastValid, gravity: Sequence[float]) -> None:
        """Write a torque; the watchdog watches from now on.

        :param stamp: [ns] of the state that it was computed from.
        """
        age, position, v, torque, _ = last_valid
        if len(torque) != self._size:
            self._size = len(torque)
            self._packed = struct.Struct(f'{FIRST.format}{4 * self._size}d')
        self._number += 1
        self._used = self._slot
        self._put(TORQUES + self._number % 2, self._number, self._rules, self._packed.pack(
            stamp, age, time.monotonic(), *position, *v, *torque, *gravity))
        self._life += 1
        self._head[LIFE] = self._life
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

    def _put(self, slot: int, number: int, rules: int, data: bytes) -> None:
        at, size = HEAD + slot * SLOT, len(data)
        self._memory[at:at + RECORD.size + size] = RECORD.pack(
            number, rules, size, crc32(data, (number ^ rules << 16) & 0xFFFFFFFF)) + data


class LastTorqueReader:
    """Read the sign of life and the last torque from shared memory."""

    def __init__(self, memory: int) -> None:
        """Take the file descriptor of create_memory."""
        self._memory = mmap.mmap(memory, SIZE, access=mmap.ACCESS_READ)
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
        _, used, data = max(filter(None, (self._get(TORQUES + k) for k in range(2))))
        rules = next(found for k in range(2) if (found := self._get(RULES + k)) and
                     found[0] == used)
        stamp, age, written = FIRST.unpack_from(data)
        values = array('d', data[FIRST.size:])
        n = len(values) // 4
        q, v, torque, gravity = (values[k * n:(k + 1) * n].tolist() for k in range(4))
        return LastTorque(pickle.loads(rules[2]), stamp, LastValid(age, q, v, torque, True),
                          gravity, written)

    def _get(self, slot: int) -> tuple[int, int, bytes] | None:
        """Return number, number of the rules and data of a slot, None if it is incomplete."""
        at = HEAD + slot * SLOT
        number, rules, size, checksum = RECORD.unpack_from(self._memory, at)
        data = self._memory[at + RECORD.size:at + RECORD.size + size]
        return (number, rules, data) if number and (
            crc32(data, (number ^ rules << 16) & 0xFFFFFFFF) == checksum) else None


def _words(memory: mmap.mmap) -> memoryview:
    """Return the head as words, each of which is read and written as a whole."""
    return memoryview(memory)[:HEAD].cast('q')
