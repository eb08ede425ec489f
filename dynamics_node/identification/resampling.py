"""Resample a recording at uniform times, and divide it at gaps that are too long for that.

A gap is judged by the filter that follows: frequencies above the cutoff are removed, so a quarter
of its period can be bridged, however many samples are lost.

* Up to two lost samples: a cubic spline through all samples.
* More: a cubic polynomial, fitted to as much time on both sides as the gap has. A spline would take
  its slope from two noisy samples and multiply their noise by the number of lost ones.
* Samples nearer to each other than half a step are thinned: a spline through both would multiply
  their noise in the same way.
"""

import numpy as np

from dynamics_node.identification.decimation import segments

LONGEST_STEP = 3.5   # in usual steps: a spline bridges up to two lost samples
LONGEST_GAP = 0.25   # in periods of the cutoff: a longer gap divides the recording
NEAREST = 0.5        # in usual steps: of samples nearer to each other one is used
BESIDE = 8           # samples at least on either side of a gap that determine the polynomial
JITTER = 1e-3        # of a step: below, stamps count as uniform (rounded to microseconds)


def stretches(time: np.ndarray, cutoff: float) -> list[slice]:
    """Return the slices of samples between gaps that a filter with this cutoff [Hz] sees."""
    usual = float(np.median(np.diff(time)))
    return segments(time, max(LONGEST_STEP, LONGEST_GAP / cutoff / usual))


def uniform(time: np.ndarray, x: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (time, x) at steps of exactly one period; every gap is bridged.

    :param x: (N, columns)
    """
    from scipy.interpolate import CubicSpline

    grid = time[0] + period * np.arange(int((time[-1] - time[0]) / period + 1.0 + JITTER))
    if len(grid) == len(time) and np.abs(grid - time).max() < JITTER * period:
        return time, x
    grid = grid[grid <= time[-1] + JITTER * period]
    kept = _spaced(time, NEAREST * period)
    time, x = time[kept], x[kept]
    y = CubicSpline(time, x)(grid)
    for k in np.flatnonzero(np.diff(time) > LONGEST_STEP * period):
        inside = (grid > time[k]) & (grid < time[k + 1])
        y[inside] = _bridge(time, x, k, grid[inside])
    return grid, y


def _spaced(time: np.ndarray, least: float) -> np.ndarray:
    """Return a mask of samples with at least this step between them."""
    kept = np.ones(len(time), dtype=bool)
    last = time[0]
    for k in range(1, len(time)) if (np.diff(time) < least).any() else ():
        kept[k] = time[k] - last >= least
        last = time[k] if kept[k] else last
    return kept


def _bridge(time: np.ndarray, x: np.ndarray, k: int, at: np.ndarray) -> np.ndarray:
    """Return x at times in the gap after sample k, by a cubic polynomial."""
    start, stop = time[k], time[k + 1]
    length = stop - start
    low = min(int(np.searchsorted(time, start - length)), max(0, k + 1 - BESIDE))
    high = max(int(np.searchsorted(time, stop + length)), k + 1 + BESIDE)
    middle = 0.5 * (start + stop)
    powers = np.vander((time[low:high] - middle) / length, 4)
    found = np.linalg.lstsq(powers, x[low:high], rcond=None)[0]
    return np.vander((at - middle) / length, 4) @ found
