"""Request real-time scheduling of this process: priority, cores, locked memory.

Each request may be refused: without permission the process runs like any other. The diagnostics
contain what was granted; docs/torque.md says how to permit it.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence

MCL_CURRENT, MCL_FUTURE, MCL_ONFAULT = 1, 2, 4   # of mlockall
M_TRIM_THRESHOLD, M_MMAP_MAX, LARGE = -1, -4, 2 ** 31 - 1   # of mallopt


def request(priority: int, cores: Sequence[int] = ()) -> str:
    """Request real-time scheduling; return what was granted, and what was refused and why.

    All existing threads get the priority, so call this after the middleware has started its
    threads. Threads that start later, such as a compiler, do not get it.

    :param priority: for SCHED_FIFO, 1 to 99; 0 requests neither a priority nor locked memory.
    :param cores: numbers of the cores to run on; none: any.
    """
    found = []
    if cores:
        found.append(_granted(f'cores {" ".join(map(str, cores))}',
                              lambda thread: os.sched_setaffinity(thread, cores)))
    if priority:
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        found.append(_granted(f'SCHED_FIFO {priority}', lambda thread: os.sched_setscheduler(
            thread, policy, os.sched_param(priority))))
        found.append(_granted('memory locked', _lock_memory))
    return ', '.join(found) or 'not requested'


def _granted(what: str, ask: Callable[[int], None]) -> str:
    try:
        for thread in os.listdir('/proc/self/task'):
            ask(int(thread))
        return what
    except (OSError, ValueError) as error:
        return f'no {what}: {getattr(error, "strerror", None) or error}'


def _lock_memory(_: int) -> None:
    """Keep every page that was used in memory: reading one back takes milliseconds.

    Freed memory stays with the process, as getting it again would cause page faults.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mallopt(M_TRIM_THRESHOLD, LARGE)
    libc.mallopt(M_MMAP_MAX, 0)
    if libc.mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
