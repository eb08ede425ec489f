"""How noisy is each joint's torque, and how many of its samples are worth one independent one?

Filters and unmodelled effects make neighbouring residuals alike: N samples then tell as much as
N / t independent ones, t = 1 + 2 sum_k r_k with the autocorrelation r_k. Regressors change slowly
against it, so that sigma sqrt(t) in place of sigma gives standard deviations that hold.
"""

from typing import NamedTuple

import numpy as np
from scipy import fft

TO_SIGMA = 1.4826  # of a normal distribution: standard deviation / median of |x|


class Noise(NamedTuple):
    """Of each joint's torque residual; of a robot with loops of each independent joint's."""

    sigma: np.ndarray        # (nv,) standard deviation [N m or N]
    alike: np.ndarray        # (nv,) samples that are worth one independent one, at least 1

    @property
    def effective(self):
        """(nv,) what an independent sample of the same worth would have [N m or N]."""
        return self.sigma * np.sqrt(self.alike)


def residual_noise(residuals, parameters, floor, robust=False):
    """Return the Noise of residuals, (N, nv).

    :param parameters: how many were fitted to each joint, (nv,).
    :param floor: least sigma, (nv,): exact data have rounding errors too [N m or N].
    :param robust: by the median of |residual|, which outliers do not move.
    """
    N = len(residuals)
    if robust:
        sigma = median_sigma(residuals)
    else:
        sigma = np.sqrt((residuals ** 2).sum(axis=0) / np.maximum(N - parameters, 1))
    alike = np.array([correlation_time(column) for column in residuals.T])
    return Noise(np.maximum(sigma, floor), alike)


def median_sigma(residuals):
    """Return the standard deviation of each column by the median of |x|, (nv,)."""
    return TO_SIGMA * np.median(np.abs(residuals), axis=0)


def correlation_time(x):
    """Return t = 1 + 2 sum_k r_k of a series, at least 1.

    The sum ends where the pairs r_2k + r_2k+1 first are not positive, and pairs never grow
    (Geyer's initial monotone sequence, 1992): what comes later is chance.
    """
    x = x - x.mean()
    spectrum = fft.rfft(x, fft.next_fast_len(2 * len(x), real=True))
    covariance = fft.irfft(np.abs(spectrum) ** 2)[:len(x)]
    if not covariance[0] > 0.0:
        return 1.0
    r = covariance / covariance[0]
    pairs = r[:len(r) // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0.0)
    pairs = np.minimum.accumulate(pairs[:ends[0] if len(ends) else None])
    return max(1.0, 2.0 * pairs.sum() - 1.0)
