"""Test velocities and accelerations from noisy positions against exactly known motions."""

import numpy as np
import pytest
from support.simple_recordings import fourier_motion

from dynamics_node import DynamicsError
from dynamics_node.identification.decimation import TAPS, decimate, factor_for, segments
from dynamics_node.identification.filtering import (
    default_cutoff,
    differentiate,
    low_pass,
    low_pass_parts,
    smooth,
)
from dynamics_node.identification.recording import raw_recording

JOINTS = ('a', 'b', 'c')
# Errors of the acceleration, RMS as a share of its RMS; measured, in brackets, at 100 Hz, where
# they are greatest. The motion has 0.1 to 0.5 Hz and does not rest at its ends.
NO_NOISE = 1e-4       # edges of the recording (2.8e-5)
COUNTS_16_BIT = 2e-3  # a quantum of 96 urad is noise of 28 urad (9.7e-4)
NOISE_1E5 = 6e-4      # 10 urad (3.7e-4)
NOISE_1E4 = 6e-3      # 100 urad: ten times as much (3.7e-3)
QUANTUM = 2.0 * np.pi / 2 ** 16
MUCH_BETTER = 1.4     # times the least error that any cutoff leaves (1.30)


def rms(x):
    return np.sqrt(np.mean(x ** 2))


def measured(time, noise=0.0, quantum=0.0):
    q, v, a = fourier_motion(time, 3)
    y = q + noise * np.random.default_rng(2).normal(size=q.shape)
    if quantum:
        y = quantum * np.round(y / quantum)
    return raw_recording(JOINTS, time, y, q)


def errors(recording):
    """Return the relative RMS errors of (v, a)."""
    _, v, a = fourier_motion(recording.time, 3)
    return rms(recording.v - v) / rms(v), rms(recording.a - a) / rms(a)


@pytest.mark.parametrize('rate', [100, 250, 1000])
@pytest.mark.parametrize('noise, quantum, bound', [
    (0.0, 0.0, NO_NOISE), (0.0, QUANTUM, COUNTS_16_BIT), (1e-5, 0.0, NOISE_1E5),
    (1e-4, 0.0, NOISE_1E4)])
def test_accelerations_of_noisy_encoders_are_accurate(rate, noise, quantum, bound):
    """The cutoff is found from the motion, at any rate and noise."""
    recording = smooth(measured(np.arange(20 * rate) / rate, noise, quantum))
    dv, da = errors(recording)
    assert da < bound
    assert dv < 0.3 * bound


@pytest.mark.parametrize('noise', [0.0, 1e-5, 1e-4])
@pytest.mark.parametrize('fundamental', [0.1, 0.5])
def test_the_cutoff_follows_the_motion(noise, fundamental):
    """Five times its bandwidth of 5 fundamentals; the window's resolution is added."""
    time = np.arange(20_00) / 100.0
    q, _, _ = fourier_motion(time, 3, fundamental=fundamental)
    q += noise * np.random.default_rng(2).normal(size=q.shape)
    cutoff = default_cutoff(raw_recording(JOINTS, time, q, q))
    assert 0.95 * 25.0 * fundamental < cutoff < 25.0 * fundamental + 5.0 * 0.5


@pytest.mark.parametrize('rate', [100, 1000])
@pytest.mark.parametrize('noise', [1e-5, 1e-4, 1e-3])
def test_the_cutoff_is_nearly_optimal(rate, noise):
    """Of a motion whose acceleration jumps, as friction makes it: it has no highest frequency."""
    time = np.arange(20 * rate) / rate
    k = np.arange(1, min(400, rate), 2)      # a square wave, by its harmonics
    w = 2.0 * np.pi * 0.3 * k
    waves = np.sin(np.outer(time, w)) * (8.0 / np.pi / k)
    q, _, a = fourier_motion(time, 3)
    q = q - (waves / w ** 2).sum(axis=1, keepdims=True)
    q += noise * np.random.default_rng(2).normal(size=q.shape)
    raw = raw_recording(JOINTS, time, q, a + waves.sum(axis=1, keepdims=True))  # tau: the true a

    def error(cutoff=None):
        recording = smooth(raw, cutoff)
        return rms(recording.a - recording.tau)
    assert error() < MUCH_BETTER * min(map(error, np.geomspace(1.0, 0.3 * rate, 30)))


def test_the_filter_has_no_delay():
    """The filter's phase is zero: the correlation with the truth is greatest at no shift."""
    recording = smooth(measured(np.arange(2000) / 100.0, noise=1e-4))
    delays = [errors(recording._replace(time=recording.time + shift))[1]
              for shift in (-2e-3, 0.0, 2e-3)]
    assert delays[1] < 0.6 * min(delays[0], delays[2])


def test_jitter_and_lost_samples_are_resampled():
    """Stamps that are true but not uniform; every twentieth sample is lost."""
    rng = np.random.default_rng(3)
    time = np.arange(4000) / 200.0 + rng.uniform(-1e-3, 1e-3, 4000)
    time = np.delete(time, np.arange(7, 4000, 20))
    recording = smooth(measured(time))
    assert np.ptp(np.diff(recording.time)) < 1e-9
    assert errors(recording)[1] < NO_NOISE
    assert rms(recording.tau - fourier_motion(recording.time, 3)[0]) < 1e-6


def test_gaps_divide_the_recording():
    """No sample is interpolated in a gap, and both sides are equally accurate."""
    raw = measured(np.arange(4000) / 100.0)
    raw.tau[1800:2100, 1] = np.nan
    raw.q[3990, 0] = np.nan   # one sample: bridged
    recording = smooth(raw)
    assert not ((recording.time > 18.0) & (recording.time < 21.0)).any()
    assert recording.time[-1] > 39.0
    assert len(segments(recording.time)) == 2
    assert np.isfinite(recording.a).all()
    assert errors(recording)[1] < NO_NOISE


def test_gaps_everywhere_are_refused():
    """With the length that is needed."""
    raw = measured(np.arange(2000) / 100.0)
    for k in range(10):   # more than a quarter of the filter's period
        raw.q[k::100] = np.nan
    with pytest.raises(DynamicsError, match='longest stretch without a gap is .* needs'):
        smooth(raw, cutoff=4.0)


def test_a_cutoff_beyond_the_rate_is_refused():
    """At half the rate and just below it no filter exists."""
    with pytest.raises(DynamicsError, match='at most 40, 0.4 of the sampling rate'):
        smooth(measured(np.arange(2000) / 100.0), cutoff=50.0)


def test_differences_are_of_fourth_order():
    """Half the step, a sixteenth of the error."""
    def error(step):
        t = np.arange(41) * step
        v, a = differentiate(np.sin(t), step)
        return np.array([np.abs(v - np.cos(t)[2:-2]).max(), np.abs(a + np.sin(t)[2:-2]).max()])
    assert error(0.1) / error(0.05) == pytest.approx(16.0, rel=0.1)


def test_the_low_pass_has_the_gain_of_a_butterworth_filter():
    """Of order 4, applied twice: 1 / (1 + (f / cutoff)^8)."""
    t = np.arange(4000) / 100.0
    for f in (1.0, 4.0, 8.0):
        y = low_pass(np.sin(2.0 * np.pi * f * t), 100.0, 4.0)[1000:3000]
        warped = np.tan(np.pi * f / 100.0) / np.tan(np.pi * 4.0 / 100.0)  # bilinear transform
        assert rms(y) * np.sqrt(2.0) == pytest.approx(1.0 / (1.0 + warped ** 8), rel=1e-3)


# Both sides alike ------------------------------------------------------------------------------

@pytest.mark.parametrize('factor', [1, 2, 7])
def test_decimation_keeps_a_linear_equation(factor):
    """W tau = (W Y) pi, also for torques with edges, to rounding."""
    rng = np.random.default_rng(4)
    v = fourier_motion(np.arange(1000) / 100.0, 3)[1]
    Y = np.stack([v, np.sign(v), rng.normal(size=v.shape)], axis=-1)
    pi = np.array([0.3, 2.0, -1.0])
    thin = decimate(Y, factor)
    assert len(thin) == (1000 // factor - TAPS + 1 if factor > 1 else 1000)
    assert np.abs(decimate(Y @ pi, factor) - thin @ pi).max() < 1e-13


def test_white_noise_stays_white_and_gets_weaker():
    """By the filter's own correlation; chance is 0.007 for 20 000 samples."""
    noise = np.random.default_rng(5).normal(size=(200_000, 1))
    thin = decimate(noise, 10)[:, 0]
    for lag in (1, 2, 3):
        assert abs(np.mean(thin[lag:] * thin[:-lag]) / thin.var()) < 0.03
    assert thin.std() == pytest.approx(np.sqrt(0.1), rel=0.03)


def test_decimation_keeps_slow_signals():
    """Constant to rounding; a quarter of the new rate to 1 %."""
    assert decimate(np.full((200, 2), 3.0), 10) == pytest.approx(3.0, abs=1e-13)
    slow = np.sin(2.0 * np.pi * 0.025 * np.arange(4000))
    assert rms(decimate(slow, 10)) == pytest.approx(np.sqrt(0.5), rel=0.01)


def test_the_factor_puts_the_cutoff_at_half_the_new_rate():
    """1000 Hz and a cutoff of 5 Hz: every hundredth."""
    assert factor_for(np.arange(100) / 1000.0, 5.0) == 100
    assert factor_for(np.arange(100) / 100.0, 49.0) == 1


@pytest.mark.parametrize('cutoff', [2.4, 10.0, 30.0])
def test_parts_of_any_lengths_are_filtered_as_scipy_does(cutoff):
    """One call for all parts: equal to the bit to SciPy's function for each."""
    from scipy.signal import butter, sosfiltfilt
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(n, 3)).cumsum(axis=0) for n in (2, 5, 40, 700, 701)]
    sections = butter(4, cutoff, fs=100.0, output='sos')
    for x, found in zip(parts, low_pass_parts(parts, 100.0, cutoff)):
        wanted = sosfiltfilt(sections, x, axis=0, padlen=min(len(x) - 1, int(300.0 / cutoff)))
        assert np.array_equal(found, wanted)
        assert np.array_equal(low_pass(x[:, 0], 100.0, cutoff), wanted[:, 0])
