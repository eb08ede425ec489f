"""Find the cutoff frequency for a motion and its noise, from the spectrum of the positions.

* The cutoff is five times the bandwidth of the motion. There the squared gain of order 4 is
  1 / (1 + 5^-8): 3e-6 is lost at the highest frequency of the motion.
* It is lower where too much noise would pass, as for motions with steps, which have no highest
  frequency: noise in the regressor biases inertias towards zero. The same spectrum predicts the
  error of the accelerations for any cutoff.
* The motion is a connected part of the spectrum, from the lowest frequency up. A line far above it
  is noise, however strong: of jittering stamps, of lost or repeated samples, of the mains.
* Noise is not white: that of jittering stamps falls with the frequency. A line of the motion is
  above the noise of the frequencies beyond it, from four to sixteen times its own.
* An encoder of few counts has noise that the upper half of the spectrum does not show: steps of a
  quantum, as often as the motion crosses one.
"""

from collections.abc import Iterator

import numpy as np

from dynamics_node.identification.decimation import segments
from dynamics_node.identification.recording import PAUSE
from dynamics_node.identification.resampling import LONGEST_STEP, uniform

ORDER = 4             # of the Butterworth filter, run twice
ABOVE_BANDWIDTH = 5.0  # cutoff / bandwidth of the motion, at most
CUTOFFS = 2.0 ** -np.arange(0.0, 4.0, 0.1)   # candidates, relative to that
GOOD = 0.01           # accepted relative error of accelerations; its square is the bias
HIGHEST = 0.4         # of the sampling rate: no cutoff above
OF_THE_POWER = 0.999  # of the acceleration is below the bandwidth
ABOVE_NOISE = 10.0    # a spectral line of the motion is so many times above the noise floor
SIDE_LOBES = 1e-8     # of the power of the strongest line; those of the Nuttall window: -93 dB
AVERAGED = 3          # parts of the recording, half overlapping, whose spectra are averaged
NEXT_LINE = 3.0       # times a frequency of the motion: the next one is not higher. Friction, odd
#                       in the velocity, adds a line at three times the lowest frequency
BEYOND = (4.0, 16.0)  # times a frequency: there the motion has ended, and its noise is seen
BANDS = 60            # frequencies at which that noise is computed
FASTER = 1.1          # times the cutoff of equally long windows: a faster motion
WINDOWS = 20          # of a recording, at most, that a shorter one is compared with
FEWEST = 16           # samples of a window; it has less where samples are lost
MAIN_LOBE = 4         # lines of the Nuttall window on either side


def cutoff_of(time: np.ndarray, q: np.ndarray) -> float:
    """Return the cutoff for the motion and its noise, at most 0.4 of the sampling rate [Hz].

    For several recordings with pauses between them, it is that of the fastest one. The cutoff of a
    short recording is too high, so it is compared with windows of the same length of the longer
    ones. Recordings of at most PAUSE are not considered.

    :param q: (N, joints)
    """
    period = float(np.median(np.diff(time)))

    def duration(rows: slice) -> float:
        return time[rows.stop - 1] - time[rows.start]
    recordings = [rows for rows in segments(time, PAUSE / period)
                  if duration(rows) > PAUSE] or [slice(0, len(time))]
    recordings.sort(key=duration, reverse=True)
    found = 0.0
    for k, rows in enumerate(recordings):
        own = _cutoff_of_one(time[rows], q[rows], period)
        windows = (part for longer in recordings[:k]
                   for part in _windows(time, longer, duration(rows)))
        if own > found and not any(FASTER * _cutoff_of_one(time[part], q[part], period) > own
                                   for part in windows):
            found = own
    return found


def _windows(time: np.ndarray, rows: slice, duration: float) -> Iterator[slice]:
    """Yield slices of a recording, each of a duration, that overlap by half, at most WINDOWS."""
    spare = time[rows.stop - 1] - time[rows.start] - duration
    for start in np.linspace(0.0, spare, min(WINDOWS, 1 + int(np.ceil(2.0 * spare / duration)))):
        first, last = np.searchsorted(time, time[rows.start] + start + np.array([0.0, duration]))
        if last - first > FEWEST:
            yield slice(first, last)


def _cutoff_of_one(time: np.ndarray, q: np.ndarray, period: float) -> float:
    """Return the cutoff of one recording [Hz].

    The lower of two: that of the longest part without gaps, which is too high if that is short, and
    that of all samples with gaps bridged, which is too high if they are long.
    """
    longest = max(segments(time, LONGEST_STEP), key=lambda rows: rows.stop - rows.start)
    found = [best_cutoff(uniform(time[rows], q[rows], period)[1], 1.0 / period,
                         quantisation_noise(time[rows], q[rows]))
             for rows in (longest, slice(None))]
    return min(*found, HIGHEST / period)


def best_cutoff(q: np.ndarray, rate: float, floor: np.ndarray) -> float:
    r"""Return five times the bandwidth, or less if that gives better accelerations [Hz].

    The highest cutoff with a GOOD error, else the one with the least error. From the spectrum,

    error^2 = sum_f f^4 ((1 - H)^2 motion + H^2 noise) / sum_f f^4 motion,

    for the worst joint, with the gain H = 1 / (1 + (f / cutoff)^8).

    :param q: (N, joints), uniform in time; rate: [Hz].
    :param floor: (joints,) least power density of the noise [rad^2/Hz or m^2/Hz].
    """
    f, motion, noise = _spectrum(q, rate, floor)
    cutoffs = ABOVE_BANDWIDTH * _bandwidth(f, motion) * CUTOFFS
    H = (1.0 / (1.0 + np.divide.outer(f, cutoffs) ** (2 * ORDER))).T[..., None]
    squares = ((1.0 - H) ** 2 * motion + H ** 2 * noise).sum(axis=1)   # (cutoffs, joints)
    share = squares / np.maximum(motion.sum(axis=0), np.finfo(float).tiny)
    worst = np.where(motion.any(axis=0), share, 0.0).max(axis=1)       # of the joints that move
    return float(cutoffs[np.maximum(worst, GOOD ** 2).argmin()])       # the first one: the highest


def quantisation_noise(time: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the power density of the rounding of positions, (joints,) [rad^2/Hz or m^2/Hz].

    Rounding to a quantum d has the variance d^2 / 12, at frequencies up to that at which the motion
    crosses quanta, at most half the sampling rate. The quantum is the least change.
    """
    changes = np.abs(np.diff(q, axis=0))
    changes = np.where(changes > 0.0, changes, np.inf)
    quantum = changes.min(axis=0, initial=np.inf)
    quantum = np.where(np.isfinite(quantum), quantum, 0.0)
    distance = np.where(np.isfinite(changes), changes, 0.0).sum(axis=0)
    crossings = distance / np.maximum(quantum, np.finfo(float).tiny) / (time[-1] - time[0])
    highest = np.clip(crossings, 1.0 / (time[-1] - time[0]), 0.5 / np.median(np.diff(time)))
    return quantum ** 2 / 12.0 / highest


def _bandwidth(f: np.ndarray, motion: np.ndarray) -> float:
    """Return the frequency below which 99.9 % of the power of accelerations lie [Hz].

    The greatest one of all joints.
    """
    share = np.cumsum(motion, axis=0) / np.maximum(motion.sum(axis=0), np.finfo(float).tiny)
    return f[np.argmax(share >= OF_THE_POWER, axis=0)].max() + f[1]


def _spectrum(q: np.ndarray, rate: float, floor: np.ndarray
              ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (f [Hz], power of accelerations by motion and by noise, (frequencies, joints) each).

    The motion is the connected part of the spectrum of q above the noise floor and above the side
    lobes of the window; lines that are not connected are noise. The spectrum of accelerations is
    w^4 times that of q, here f^4: the unit does not matter.
    """
    from scipy.signal import welch

    length = max(8, min(len(q), 2 * len(q) // (AVERAGED + 1)))
    f, power = welch(q, rate, 'nuttall', length, axis=0, detrend='linear')
    floor = np.maximum(_noise_floor(f, power), floor)
    above = power > np.maximum(ABOVE_NOISE * floor, SIDE_LOBES * power.max(axis=0))
    last = np.array([_last_connected(f, column) for column in above.T])
    motion = above & (np.arange(len(f))[:, None] <= last)
    white = floor[last, np.arange(len(last))]   # at lower frequencies, `floor` sees the motion
    rates = (f ** 4)[:, None]
    noise = np.where(above & ~motion, power, white)
    return f, rates * np.where(motion, power, 0.0), rates * noise


def _noise_floor(f: np.ndarray, power: np.ndarray) -> np.ndarray:
    """Return the noise at each frequency, (frequencies, joints).

    The median of the frequencies BEYOND, at least that of the upper half of all frequencies.
    """
    upper = np.median(power[len(f) // 2:], axis=0)
    at = np.geomspace(f[1], f[-1], BANDS)
    floor = np.tile(upper, (BANDS, 1))
    for k, (first, last) in enumerate(np.searchsorted(f, np.outer(at, BEYOND))):
        if first < len(f) // 2:
            floor[k] = np.maximum(np.median(power[first:last], axis=0), upper)
    return floor[np.minimum(np.searchsorted(at, f), BANDS - 1)]


def _last_connected(f: np.ndarray, above: np.ndarray) -> int:
    """Return the index of the highest line that is connected to the lowest one."""
    lines = np.flatnonzero(above)
    if not len(lines):
        return 0
    far = f[lines[1:]] > NEXT_LINE * f[lines[:-1]] + MAIN_LOBE * f[1]
    return lines[np.argmax(far)] if far.any() else lines[-1]
