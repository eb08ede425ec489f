"""Drop samples that a driver sends more than once.

A driver that publishes faster than it measures sends each sample again under a new stamp. Copies
are steps in the positions, so they are dropped. A robot at rest may repeat a sample, too: a run of
more than AT_REST is kept.
"""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.recording import RawRecording

AT_REST = 0.1   # [s] without any change: the robot does not move


def without_copies(raw: RawRecording) -> tuple[RawRecording, int]:
    """Return (recording without samples of the same stamp, their number).

    :raise DynamicsError: two samples have the same stamp and different values.
    """
    same_time = np.flatnonzero(np.diff(raw.time) == 0.0)
    for quantity in ('q', 'tau'):
        x = getattr(raw, quantity)
        other = [k for k in same_time if not np.array_equal(x[k], x[k + 1], equal_nan=True)]
        if other:
            k = int(other[0])
            raise DynamicsError(
                f'samples {k} and {k + 1} have the same time, {raw.time[k]:.6f} s, but different '
                f'{quantity}; stamp each sample when it is measured, by one publisher per joint')
    kept = np.ones(len(raw.time), dtype=bool)
    kept[same_time + 1] = False
    return raw.rows(kept), len(same_time)


def without_repeats(raw: RawRecording) -> tuple[RawRecording, int]:
    """Return (recording without samples that repeat the one before, their number)."""
    new = np.ones(len(raw.time), dtype=bool)
    new[1:] = ((np.diff(raw.q, axis=0) != 0.0).any(axis=1)
               | (np.diff(raw.tau, axis=0) != 0.0).any(axis=1))   # NaN differs from everything
    first = np.flatnonzero(new)
    stop = np.append(first[1:], len(new))
    rests = raw.time[stop - 1] - raw.time[first] > AT_REST
    kept = new | np.repeat(rests, stop - first)
    return raw.rows(kept), int((~kept).sum())
