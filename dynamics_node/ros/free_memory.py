"""Return freed memory to the system.

The allocator of glibc keeps freed memory for later: after one reply of 100 MB, a process would keep
most of that for ever.
"""

import ctypes
import os
from contextlib import suppress
from typing import Any

from dynamics_node.errors import FileError
from dynamics_node.files import read_file

MUCH = 16_000_000   # [bytes] of freed memory; less is not given back
PAGE = os.sysconf('SC_PAGE_SIZE')


class _MallocInfo(ctypes.Structure):
    """struct mallinfo2 of malloc.h."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        'arena', 'ordblks', 'smblks', 'hblks', 'hblkhd', 'usmblks', 'fsmblks', 'uordblks',
        'fordblks', 'keepcost')]


def resident() -> int:
    """Return the resident memory of this process [bytes]."""
    return int(read_file('/proc/self/statm', 1000).split()[1]) * PAGE


class MemoryReturn:
    """Gives memory back when much was freed since the last time."""

    def __init__(self) -> None:
        library = ctypes.CDLL(None)
        # None: not glibc, or older than 2.33
        self._info: Any = getattr(library, 'mallinfo2', None)
        if self._info is not None:
            self._info.restype = _MallocInfo
            self._trim = library.malloc_trim
        # [bytes] that the allocator counts as free, though they were given back; resident memory
        self._given_back = self._resident = 0
        with suppress(FileError):
            self._resident = resident()

    def check(self) -> None:
        """Give freed memory back if there is MUCH of it, and memory can be measured now."""
        if self._info is not None:
            with suppress(FileError):   # the process has no file descriptor left, for example
                self._check()

    def _check(self) -> None:
        free, now = self._info().fordblks, resident()
        used_again = max(0, now - self._resident)
        self._given_back = max(0, min(self._given_back - used_again, free))
        if free > self._given_back + MUCH:
            self._trim(0)
            self._given_back, now = free, resident()
        self._resident = now
