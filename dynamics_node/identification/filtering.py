"""Filter and differentiate measured positions: q, v and a below a cutoff frequency.

A Butterworth filter is run forwards and backwards (no delay: its gain is squared, its phase zero),
then central differences are computed. Decisions, with reasons:

* The cutoff is found from the spectrum of the positions: see `cutoff.py`.
* Differences over five points: exact up to (w h)^4 / 30 for v and (w h)^4 / 90 for a.
* The torque is not filtered here. Its regressor is not linear in q, and dry friction has steps;
  both sides are filtered alike by `decimation.decimate`.
* Samples at irregular times are resampled, and short gaps bridged: see `resampling.py`.
* Measured velocities are not used: drivers filter them, with an unknown delay.
* Samples with NaN are left out. The edges of each stretch without a long gap are dropped, since the
  filter has samples on one side only there.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dynamics_node.checks import positive
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.cutoff import HIGHEST, ORDER, cutoff_of
from dynamics_node.identification.recording import RawRecording, Recording
from dynamics_node.identification.resampling import stretches, uniform

EDGE = 3.0            # left out at each end of a stretch, in periods of the cutoff
SHORTEST = 10.0       # a stretch that is kept, in periods of the cutoff


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
    found = stretches(time, cutoff)
    parts = [_smooth_segment(time[rows], q[rows], tau[rows], period, cutoff) for rows in found
             if time[rows][-1] - time[rows][0] >= SHORTEST / cutoff]
    if not parts:
        longest = max(time[rows][-1] - time[rows][0] for rows in found)
        raise DynamicsError(
            f'the longest stretch without a gap is {longest:.3g} s; a filter of {cutoff:.3g} Hz '
            f'needs {SHORTEST / cutoff:.3g} s. Record without gaps, or for longer')
    time, q, v, a, tau = map(np.concatenate, zip(*parts))
    return Recording(tuple(raw.joint_names), time, q, v, a, tau, raw.no_effort)


def default_cutoff(raw: RawRecording) -> float:
    """Return the cutoff for the motion of a recording and its noise [Hz]: see `cutoff.py`."""
    time, q, _ = _finite_rows(raw)
    return cutoff_of(time, q)


def low_pass(x: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """Return the columns of x filtered below the cutoff, with zero phase, (N, ...)."""
    return low_pass_parts([x.reshape(len(x), -1)], rate, cutoff)[0].reshape(x.shape)


def low_pass_parts(parts: Sequence[np.ndarray], rate: float, cutoff: float) -> list[np.ndarray]:
    """Return the columns of each part filtered below the cutoff, with zero phase.

    The numbers are those of SciPy's `sosfiltfilt` for one part after the other, which takes as long
    for its preparations as for a thousand samples.

    :param parts: (n, columns) each, of any lengths.
    """
    from scipy.signal import sosfilt

    sections, rest = sections_of(rate, cutoff)
    edges = [padding(len(x), rate, cutoff) for x in parts]
    stops = [len(x) + 2 * edge for x, edge in zip(parts, edges)]
    block = np.zeros((len(parts), parts[0].shape[1], max(stops)))   # each begins at 0
    for y, x, edge, stop in zip(block, (x.T for x in parts), edges, stops):
        y[:, edge:stop - edge] = x
        y[:, :edge] = 2.0 * x[:, :1] - x[:, edge:0:-1]   # point symmetric about the ends
        y[:, stop - edge:stop] = 2.0 * x[:, -1:] - x[:, -2:-edge - 2:-1]
    for _ in range(2):   # forwards, then backwards; at rest in the first sample
        block = sosfilt(sections, block, zi=rest[:, None, None] * block[..., :1])[0]
        if min(stops) == max(stops):
            block = block[..., ::-1]
            continue
        for y, stop in zip(block, stops):
            y[:, :stop] = y[:, stop - 1::-1].copy()
    return [y[:, edge:stop - edge].T for y, edge, stop in zip(block, edges, stops)]


def padding(samples: int, rate: float, cutoff: float) -> int:
    """Return the number of samples that are added at each end of a part before it is filtered."""
    return min(samples - 1, int(3.0 * rate / cutoff))


@lru_cache(maxsize=16)
def sections_of(rate: float, cutoff: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the second-order sections, and their state after an endless signal of 1."""
    from scipy.signal import butter, sosfilt_zi

    sections = butter(ORDER, cutoff, fs=rate, output='sos')
    return sections, sosfilt_zi(sections)


def differentiate(q: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (v, a) at all rows but the first two and the last two, (N - 4, ...)."""
    b, c, d, e, f = (q[k:len(q) - 4 + k] for k in range(5))
    v = 8.0 * c   # (b - 8 c + 8 e - f) / (12 h), in place: half the time
    np.subtract(b, v, out=v)
    term = 8.0 * e
    v += term
    v -= f
    v /= 12.0 * period
    a = 16.0 * c   # (-b + 16 c - 30 d + 16 e - f) / (12 h^2)
    a -= b
    a -= np.multiply(30.0, d, out=term)
    a += np.multiply(16.0, e, out=term)
    a -= f
    a /= 12.0 * period ** 2
    return v, a


def _finite_rows(raw: RawRecording) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (time, q, tau) of the samples without NaN."""
    whole = (np.isfinite(raw.time) & np.isfinite(raw.q).all(axis=1)
             & np.isfinite(raw.tau).all(axis=1))
    if whole.sum() < 2:
        raise DynamicsError('no two samples have a position and a torque of every joint; record '
                            'joint states with position and effort')
    return raw.time[whole], raw.q[whole], raw.tau[whole]


def _smooth_segment(time: np.ndarray, q: np.ndarray, tau: np.ndarray, period: float, cutoff: float
                    ) -> tuple[np.ndarray, ...]:
    time, both = uniform(time, np.column_stack([q, tau]), period)
    q, tau = low_pass(both[:, :q.shape[1]], 1.0 / period, cutoff), both[:, q.shape[1]:]
    v, a = differentiate(q, period)
    inner = slice(2, len(q) - 2)
    edge = int(EDGE / (cutoff * period))
    kept = slice(edge, len(v) - edge)
    return time[inner][kept], q[inner][kept], v[kept], a[kept], tau[inner][kept]
