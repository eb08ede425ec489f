r"""Filter and decimate torques and regressor rows alike, so that tau = Y pi still holds.

tau = Y pi holds at every sample, so it holds for every weighted sum of samples, if both sides are
summed by the same weights:  W tau = (W Y) pi.  Here W is a low-pass filter followed by decimation,
the 'parallel filter' of Gautier (1997). It removes noise and ripple above the frequencies of the
motion; the residuals are then nearly white, so that least squares may count each row as an
independent measurement. The steps of dry friction are smoothed on both sides alike and stay
consistent; a filter on the torque alone would bias them.
"""

import numpy as np
from numpy.typing import ArrayLike

TAPS = 6            # length of the filter in units of the factor
FREQUENCIES = 200   # of the transform: its error is rounding, for a filter this short


def segments(time: ArrayLike, longest: float = 1.5) -> list[slice]:
    """Return the slices of samples between gaps.

    :param longest: a step longer than this many usual ones is a gap.
    """
    time = np.asarray(time)
    if len(time) < 2:
        return [slice(0, len(time))]
    steps = np.diff(time)
    edges = np.flatnonzero(steps > longest * np.median(steps)) + 1
    return [slice(int(start), int(stop))
            for start, stop in zip([0, *edges], [*edges, len(time)])]


def weights(factor: int) -> np.ndarray:
    r"""Return the low-pass filter, (TAPS * factor,), sum 1: a root raised cosine.

    Its gain is 1 up to a quarter of the new rate, 0 from three quarters on, and in between a
    quarter of a cosine. The squared gains of aliased frequencies add up to 1: white noise stays
    white.
    """
    t = (np.arange(TAPS * factor) - (TAPS * factor - 1) / 2) / factor
    f = (np.arange(FREQUENCIES) + 0.5) * (0.75 / FREQUENCIES)
    gain = np.cos(np.pi * np.clip(f - 0.25, 0.0, 0.5))
    h = np.cos(2.0 * np.pi * np.multiply.outer(t, f)) @ gain   # the inverse Fourier transform
    return h / h.sum()


def decimate(x: np.ndarray, factor: int) -> np.ndarray:
    """Return every `factor`-th sample of the filtered rows, (N // factor - TAPS + 1, ...).

    Rows near the edges, where the filter would need more samples, are dropped. One filter covers
    TAPS blocks of `factor` rows; each block is weighted once for each place in a filter.

    :param x: (N, ...), one segment, uniform in time.
    """
    if factor == 1:
        return x
    blocks = len(x) // factor
    if blocks < TAPS:
        return x[:0]
    columns = x[:blocks * factor].reshape(blocks, factor, -1)
    places = weights(factor).reshape(TAPS, factor) @ columns   # (blocks, TAPS, columns)
    out = sum(places[i:blocks - TAPS + 1 + i, i] for i in range(TAPS))
    return out.reshape(len(out), *x.shape[1:])


def rows_left(time: ArrayLike, factor: int) -> int:
    """Return the number of rows of all segments after decimation."""
    time = np.asarray(time)
    if factor == 1:
        return len(time)
    return sum(max(0, (rows.stop - rows.start) // factor - TAPS + 1) for rows in segments(time))


def factor_for(time: ArrayLike, cutoff: float) -> int:
    """Return the factor after which `cutoff` [Hz] is the highest frequency left, at least 1."""
    period = float(np.median(np.diff(time)))
    return max(1, int(1.0 / (2.0 * cutoff * period) + 1e-6))   # 99.9999999 counts as 100
