"""Cut out the parts of a recording in which no joint moves.

At rest dry friction has any value up to its limit, while the model takes it as zero: a minute of
rest beside a minute of motion biases offsets and friction. Turning points of a motion are shorter.
"""

import numpy as np

from dynamics_node.identification.decimation import segments
from dynamics_node.identification.recording import Recording

SLOW = 0.02      # of its usual speed: a slower joint is at rest
SHORTEST = 1.0   # [s] at rest: shorter ones belong to the motion


def moving(recording: Recording) -> np.ndarray:
    """Return a mask of the samples that are not in an idle part, (N,)."""
    squares = np.square(recording.v)
    # RMS speed, weighted by the square of the speed: time at rest does not change it.
    usual = np.sqrt((squares ** 2).sum(axis=0) / np.maximum(squares.sum(axis=0), 1e-300))
    fast = (np.abs(recording.v) > SLOW * usual).any(axis=1)
    kept = np.ones(len(fast), dtype=bool)
    for stretch in segments(recording.time):
        edges = np.flatnonzero(np.diff(fast[stretch])) + 1 + stretch.start
        for start, stop in zip([stretch.start, *edges], [*edges, stretch.stop]):
            rests = not fast[start]
            kept[start:stop] = not (rests and recording.time[stop - 1] - recording.time[start]
                                    >= SHORTEST)
    return kept
