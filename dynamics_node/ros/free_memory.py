"""Give memory that is not in use any more back to the system.

The allocator of glibc keeps freed memory for later, up to the greatest amount ever in use: after
one reply of 100 MB a process would keep that much for ever.
"""

import ctypes
import os

from dynamics_node.files import read_file

GROWN = 32_000_000   # [bytes] of growth after which memory is given back
PAGE = os.sysconf('SC_PAGE_SIZE')


def resident() -> int:
    """Return the resident memory of this process [bytes]."""
    return int(read_file('/proc/self/statm', 1000).split()[1]) * PAGE


class MemoryReturn:
    """Gives memory back when the process has grown by GROWN since the last time."""

    def __init__(self) -> None:
        self._after = resident()
        self._trim = getattr(ctypes.CDLL(None), 'malloc_trim', None)   # None: not glibc

    def check(self) -> None:
        """Give memory back if the process has grown; takes 30 us otherwise."""
        now = resident()
        if now > self._after + GROWN and self._trim is not None:
            self._trim(0)
            now = resident()
            self._after = now   # what is left is in use
        self._after = min(self._after, now)
