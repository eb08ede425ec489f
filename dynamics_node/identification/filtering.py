"""Filter and differentiate measured positions: q, v and a below a cutoff frequency.

A Butterworth filter is run forwards and backwards (no delay: its gain is squared, its phase zero),
then central differences are computed. Decisions, with reasons:

* The cutoff is five times the bandwidth of the motion, found from its spectrum. There the squared
  gain of order 4 is 1 / (1 + 5^-8): 3e-6 is lost at the highest frequency of the motion.
* It is lower where too much noise would pass, as for motions with steps, which have no highest
  frequency: noise in the regressor biases inertias towards zero. The same spectrum predicts the
  error of the accelerations for any cutoff.
* Differences over five points: exact up to (w h)^4 / 30 for v and (w h)^4 / 90 for a.
* The torque is not filtered here. Its regressor is not linear in q, and dry friction has steps;
  both sides are filtered alike by `decimation.decimate`.
* Samples with jittering stamps are resampled to a uniform time by cubic splines.
* Measured velocities are not used: drivers filter them, with an unknown delay.
* Samples with NaN are left out; a gap of more than two samples divides the recording. The edges of
  each part are dropped, since the filter has samples on one side only there.
"""

import numpy as np

from dynamics_node.checks import positive
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.decimation import segments
from dynamics_node.identification.recording import RawRecording, Recording

ORDER = 4             # of the Butterworth filter, run twice
ABOVE_BANDWIDTH = 5.0  # cutoff / bandwidth of the motion, at most
CUTOFFS = 2.0 ** -np.arange(0.0, 4.0, 0.1)   # candidates, relative to that
GOOD = 0.01           # accepted relative error of accelerations; its square is the bias
HIGHEST = 0.4         # of the sampling rate: no cutoff above
EDGE = 3.0            # left out at each end of a segment, in periods of the cutoff
SHORTEST = 10.0       # a segment that is kept, in periods of the cutoff
LONGEST_STEP = 3.5    # in usual steps: the spline bridges up to two lost samples
JITTER = 1e-3         # of a step: below, stamps count as uniform (rounded to microseconds)
OF_THE_POWER = 0.999  # of the acceleration is below the bandwidth
ABOVE_NOISE = 10.0    # a spectral line of the motion is so many times above the noise floor
SIDE_LOBES = 1e-8     # of the power of the strongest line; those of the Nuttall window: -93 dB
AVERAGED = 3          # parts of the recording, half overlapping, whose spectra are averaged


def smooth(raw: RawRecording, cutoff: float | None = None) -> Recording:
    """Return the Recording with q, v, a below the cutoff and the measured torque, unfiltered.

    :param cutoff: [Hz]; None: `default_cutoff(raw)`.
    :raise DynamicsError: no part without gaps is long enough.
    """
    cutoff = default_cutoff(raw) if cutoff is None else positive('cutoff', cutoff)
    time, q, tau = _finite_rows(raw)
    period = float(np.median(np.diff(time)))
    if cutoff > HIGHEST / period:
        raise DynamicsError(f'cutoff is {cutoff:g} Hz; expected at most {HIGHEST / period:.4g}, '
                            f'{HIGHEST:g} of the sampling rate')
    parts = [_smooth_segment(time[rows], q[rows], tau[rows], period, cutoff)
             for rows in segments(time, LONGEST_STEP)
             if time[rows][-1] - time[rows][0] >= SHORTEST / cutoff]
    if not parts:
        longest = max(time[rows][-1] - time[rows][0] for rows in segments(time, LONGEST_STEP))
        raise DynamicsError(
            f'the longest stretch without a gap is {longest:.3g} s; a filter of {cutoff:.3g} Hz '
            f'needs {SHORTEST / cutoff:.3g} s. Record without gaps, or for longer')
    return Recording(tuple(raw.joint_names), *map(np.concatenate, zip(*parts)))


def default_cutoff(raw: RawRecording) -> float:
    """Return the cutoff for the motion and its noise, at most 0.4 of the sampling rate [Hz].

    The lower of two: that of the longest part without gaps, which is too high if that is short, and
    that of all samples with gaps bridged by the spline, which is too high if they are long.
    """
    time, q, tau = _finite_rows(raw)
    period = float(np.median(np.diff(time)))
    longest = max(segments(time, LONGEST_STEP), key=lambda rows: rows.stop - rows.start)
    found = [best_cutoff(_uniform(time[rows], q[rows], tau[rows], period)[1], 1.0 / period)
             for rows in (longest, slice(None))]
    return min(*found, HIGHEST / period)


def best_cutoff(q: np.ndarray, rate: float) -> float:
    r"""Return five times the bandwidth, or less if that gives better accelerations [Hz].

    The highest cutoff with a GOOD error, else the one with the least error. From the spectrum,

    error^2 = sum_f f^4 ((1 - H)^2 motion + H^2 noise) / sum_f f^4 motion,

    for the worst joint, with the gain H = 1 / (1 + (f / cutoff)^8).

    :param q: (N, joints), uniform in time; rate: [Hz].
    """
    f, motion, noise = _spectrum(q, rate)
    cutoffs = ABOVE_BANDWIDTH * _bandwidth(f, motion) * CUTOFFS
    H = (1.0 / (1.0 + np.divide.outer(f, cutoffs) ** (2 * ORDER))).T[..., None]
    squares = ((1.0 - H) ** 2 * motion + H ** 2 * noise).sum(axis=1)   # (cutoffs, joints)
    share = squares / np.maximum(motion.sum(axis=0), np.finfo(float).tiny)
    worst = np.where(motion.any(axis=0), share, 0.0).max(axis=1)       # of the joints that move
    return float(cutoffs[np.maximum(worst, GOOD ** 2).argmin()])       # the first one: the highest


def _bandwidth(f, motion):
    """Return the frequency below which 99.9 % of the power of accelerations lie [Hz].

    The greatest one of all joints.
    """
    share = np.cumsum(motion, axis=0) / np.maximum(motion.sum(axis=0), np.finfo(float).tiny)
    return f[np.argmax(share >= OF_THE_POWER, axis=0)].max() + f[1]


def _spectrum(q, rate):
    """Return (f [Hz], power of accelerations by motion and by noise, (frequencies, joints) each).

    The motion is the part of the spectrum of q above the noise, which is the median of the upper
    half of all frequencies, and above the side lobes of the window. The spectrum of accelerations
    is w^4 times that, here f^4: the unit does not matter.
    """
    from scipy.signal import welch

    length = max(8, min(len(q), 2 * len(q) // (AVERAGED + 1)))
    f, power = welch(q, rate, 'nuttall', length, axis=0, detrend='linear')
    noise = np.median(power[len(f) // 2:], axis=0)
    motion = power > np.maximum(ABOVE_NOISE * noise, SIDE_LOBES * power.max(axis=0))
    rates = (f ** 4)[:, None]
    return f, rates * np.where(motion, power, 0.0), rates * noise


def low_pass(x: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """Return the columns of x filtered below the cutoff, with zero phase, (N, ...)."""
    from scipy.signal import butter, sosfiltfilt

    sos = butter(ORDER, cutoff, fs=rate, output='sos')
    return sosfiltfilt(sos, x, axis=0, padlen=min(len(x) - 1, int(3.0 * rate / cutoff)))


def differentiate(q: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (v, a) at all rows but the first two and the last two, (N - 4, ...)."""
    b, c, d, e, f = (q[k:len(q) - 4 + k] for k in range(5))
    v = (b - 8.0 * c + 8.0 * e - f) / (12.0 * period)
    a = (-b + 16.0 * c - 30.0 * d + 16.0 * e - f) / (12.0 * period ** 2)
    return v, a


def _finite_rows(raw):
    """Return (time, q, tau) of the samples without NaN."""
    whole = (np.isfinite(raw.time) & np.isfinite(raw.q).all(axis=1)
             & np.isfinite(raw.tau).all(axis=1))
    if whole.sum() < 2:
        raise DynamicsError('no two samples have a position and a torque of every joint; record '
                            'joint states with position and effort')
    return raw.time[whole], raw.q[whole], raw.tau[whole]


def _smooth_segment(time, q, tau, period, cutoff):
    time, q, tau = _uniform(time, q, tau, period)
    q = low_pass(q, 1.0 / period, cutoff)
    v, a = differentiate(q, period)
    inner = slice(2, len(q) - 2)
    edge = int(EDGE / (cutoff * period))
    kept = slice(edge, len(v) - edge)
    return time[inner][kept], q[inner][kept], v[kept], a[kept], tau[inner][kept]


def _uniform(time, q, tau, period):
    """Return the segment resampled at steps of exactly one period."""
    from scipy.interpolate import CubicSpline

    grid = time[0] + period * np.arange(int((time[-1] - time[0]) / period + 1.0 + JITTER))
    if len(grid) == len(time) and np.abs(grid - time).max() < JITTER * period:
        return time, q, tau
    grid = grid[grid <= time[-1]]
    return grid, CubicSpline(time, q)(grid), CubicSpline(time, tau)(grid)
