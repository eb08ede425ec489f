"""Pass joint states from the torque process to the serving process through shared memory.

One process writes, the other one reads; neither waits. The reader may be slow: where records have
been overwritten, it continues with the newest one. Positions count all bytes written so far; the
place in the memory is HEAD + position % SIZE.

    head:   end of the newest record, its start, whether the writer receives every joint state
    record: size, checksum, its position, stamp [ns], data, filled up to a multiple of 8 bytes

The end is written after the record. Position and checksum detect records that are overwritten
while they are read, whatever the order in which the processor writes.
"""

from __future__ import annotations

import mmap
import os
import struct
from zlib import crc32

SIZE = 1 << 20             # bytes: 2.5 s of joint states of 7 joints at 1 kHz
HEAD = 64                  # bytes
ENDS = struct.Struct('=QQ')
AWAKE = ENDS.size          # place of the flag
RECORD = struct.Struct('=IIQq')
UNUSED = 0xFFFFFFFF        # as the size: the rest of the memory is not used
LARGEST = SIZE // 4        # bytes of a joint state; larger ones are passed on empty: unreadable


def create_memory() -> int:
    """Return the file descriptor of new shared memory; it ends with the last process."""
    memory = os.memfd_create('joint states')
    os.ftruncate(memory, HEAD + SIZE)
    return memory


class RingWriter:
    """Write joint states into shared memory."""

    def __init__(self, memory: int) -> None:
        """Take the file descriptor of create_memory."""
        self._memory = mmap.mmap(memory, HEAD + SIZE)
        self._end = 0

    def set_awake(self, awake: bool) -> None:
        """Announce whether every joint state is written as soon as it arrives."""
        self._memory[AWAKE] = awake

    def append(self, stamp: int, data: bytes) -> None:
        """Write a joint state with its stamp [ns]."""
        if len(data) > LARGEST:
            data = b''
        start, length, left = self._end, _length(len(data)), SIZE - self._end % SIZE
        if length > left:
            if left >= RECORD.size:
                RECORD.pack_into(self._memory, HEAD + start % SIZE, UNUSED, 0, 0, 0)
            start += left
        at = HEAD + start % SIZE
        RECORD.pack_into(self._memory, at, len(data), _checksum(stamp, data), start, stamp)
        self._memory[at + RECORD.size:at + RECORD.size + len(data)] = data
        self._end = start + length
        ENDS.pack_into(self._memory, 0, self._end, start)


class RingReader:
    """Read joint states from shared memory.

    :ivar lost: number of times that joint states were overwritten before they were read.
    """

    def __init__(self, memory: int) -> None:
        """Take the file descriptor of create_memory."""
        self._memory = mmap.mmap(memory, HEAD + SIZE, access=mmap.ACCESS_READ)
        self._at, self.lost = 0, 0

    @property
    def awake(self) -> bool:
        """Whether the writer writes every joint state as soon as it arrives."""
        return bool(self._memory[AWAKE])

    def read(self) -> list[tuple[int, bytes]]:
        """Return [(stamp [ns], data)] of the joint states since the last call."""
        end, newest = ENDS.unpack_from(self._memory, 0)
        if end - self._at > SIZE:
            self._at = newest
            self.lost += 1
        found = []
        while self._at < end:
            record = self._record()
            if record is None:   # overwritten: the newest one is the only one that is certain
                self.lost += 1
                end, newest = ENDS.unpack_from(self._memory, 0)
                if self._at == newest:
                    break
                self._at = newest
            else:
                found += record
        self._at = end
        return found

    def _record(self) -> list[tuple[int, bytes]] | None:
        """Return the record at the current position and go on; [] at the end of the memory."""
        at = HEAD + self._at % SIZE
        if at + RECORD.size > HEAD + SIZE:
            size = UNUSED
        else:
            size, checksum, position, stamp = RECORD.unpack_from(self._memory, at)
        if size == UNUSED:
            self._at += SIZE - self._at % SIZE
            return []
        data = self._memory[at + RECORD.size:at + RECORD.size + min(size, LARGEST)]
        if (position, len(data), _checksum(stamp, data)) != (self._at, size, checksum):
            return None
        self._at += _length(size)
        return [(stamp, data)]


def _length(size: int) -> int:
    """Return the bytes of a record with `size` bytes of data."""
    return RECORD.size + (size + 7) // 8 * 8


def _checksum(stamp: int, data: bytes) -> int:
    return crc32(data, stamp & 0xFFFFFFFF)
