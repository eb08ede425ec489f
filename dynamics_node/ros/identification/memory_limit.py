"""Limit the memory and the files of the worker process.

A recording may be a bomb: a small compressed file, or one endless line, that takes all memory or
fills the disk when it is read. Beyond the limit the read fails, and the goal is refused.
"""

import os
import resource
from contextlib import suppress
from pathlib import Path

SHARE = 0.5                     # of the memory of the machine
LEAST = 2_000_000_000           # [bytes] on small machines
# If memory runs out, Linux ends this process before the node: 0 as other processes, 1000 first.
OUT_OF_MEMORY = '500'


def limit_memory(most: int | None = None) -> None:
    """Limit what this process may allocate from now on, and the length of files that it writes.

    :param most: [bytes]; None: half of the memory of the machine.
    """
    page = os.sysconf('SC_PAGE_SIZE')
    if most is None:
        most = max(LEAST, round(SHARE * os.sysconf('SC_PHYS_PAGES') * page))
    used = page * int(Path('/proc/self/statm').read_text().split()[0])
    for kind, limit in ((resource.RLIMIT_AS, used + most), (resource.RLIMIT_FSIZE, most)):
        _, hard = resource.getrlimit(kind)
        within = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (within, hard))
    with suppress(OSError):
        Path('/proc/self/oom_score_adj').write_text(OUT_OF_MEMORY)
