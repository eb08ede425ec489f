"""Estimate the noise of torque residuals and its correlation time.

Filters and unmodelled effects correlate neighbouring residuals: N samples carry the information of
N / t independent ones, t = 1 + 2 sum_k r_k with the autocorrelation r_k. Regressors change slowly
compared with t, so that sigma sqrt(t) in place of sigma gives correct standard deviations.
"""

from typing import NamedTuple

import numpy as np

TO_SIGMA = 1.4826  # of a normal distribution: standard deviation / median of |x|


class Noise(NamedTuple):
    """Noise of the torque of each joint; with loops of each independent joint."""

    sigma: np.ndarray               # (nv,) standard deviation [N m or N]
    correlation_time: np.ndarray    # (nv,) t, in samples, at least 1

    @property
    def effective(self) -> np.ndarray:
        """(nv,) sigma sqrt(t): of independent samples with the same information [N m or N]."""
        return self.sigma * np.sqrt(self.correlation_time)


def residual_noise(residuals: np.ndarray, parameters: np.ndarray, floor: np.ndarray,
                   robust: bool = False) -> Noise:
    """Return the Noise of residuals, (N, nv).

    :param parameters: (nv,) number of parameters that were fitted to each joint.
    :param floor: (nv,) least sigma: exact data have rounding errors [N m or N].
    :param robust: whether sigma is estimated by the median of |residual|.
    """
    N = len(residuals)
    if robust:
        sigma = median_sigma(residuals)
    else:
        sigma = np.sqrt((residuals ** 2).sum(axis=0) / np.maximum(N - parameters, 1))
    times = np.array([correlation_time(column) for column in residuals.T])
    return Noise(np.maximum(sigma, floor), times)


def rms(x: np.ndarray) -> float:
    """Return the root mean square of all entries."""
    return float(np.sqrt(np.mean(np.square(x))))


def median_sigma(residuals: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each column by the median of |x|, (nv,)."""
    return TO_SIGMA * np.median(np.abs(residuals), axis=0)


def correlation_time(x: np.ndarray) -> float:
    """Return t = 1 + 2 sum_k r_k of a series, at least 1.

    The sum ends at the first pair r_2k + r_2k+1 that is not positive, and pairs are made
    decreasing (initial monotone sequence, Geyer 1992): later terms are noise.
    """
    from scipy import fft

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
