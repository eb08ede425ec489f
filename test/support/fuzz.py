"""Count the cases of a fuzz test, limit their time, and compare memory before and after.

FUZZ_CASES multiplies the number of cases: 1 in CI, 1000 by hand. FUZZ_SEED is the seed.
"""

import contextlib
import faulthandler
import gc
import os
import random

from dynamics_node.ros.free_memory import MemoryReturn, resident

FACTOR = float(os.environ.get('FUZZ_CASES', 1))
SEED = int(os.environ.get('FUZZ_SEED', 0))
HANG = 120.0        # [s] of one case, on a loaded machine
MOST_TEXT = 10_100  # characters of a message in a reply, with the note that it was shortened
SHARE = 1.2         # of the memory before, that may be in use afterwards
FREE = 20_000_000   # [bytes] that may be in use in addition: caches that fill once


def cases(number):
    """Return the seeds of a number of cases in CI, times FUZZ_CASES."""
    return range(SEED, SEED + max(1, int(number * FACTOR)))


def rng_of(seed):
    """Return the random numbers of one case."""
    return random.Random(seed)


@contextlib.contextmanager
def no_hang():
    """End the process with a traceback of all threads if the content takes longer than HANG."""
    faulthandler.dump_traceback_later(HANG, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@contextlib.contextmanager
def same_memory():
    """Fail if more memory is in use after the content than SHARE of that before."""
    gc.collect()
    before = resident()
    yield
    gc.collect()
    MemoryReturn().check()
    after = resident()
    assert after <= SHARE * before + FREE, f'{before / 1e6:.0f} MB, then {after / 1e6:.0f} MB'
