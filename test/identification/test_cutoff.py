"""Test the cutoff of several recordings: that of the fastest, at any length."""

import numpy as np
import pytest
from support.simple_recordings import fourier_motion

from dynamics_node.identification.cutoff import cutoff_of

RATE, NOISE, PAUSE = 100.0, 1e-5, 6.0   # [Hz, rad, s]
MAIN = 60.0   # [s] of the longest recording


def moved(start, duration, slower=1.0):
    """Return (time, q) of a part of one motion, some times slower."""
    time = start + np.arange(round(duration * RATE)) / RATE
    q = fourier_motion(time / slower, 3)[0]
    return time, q + NOISE * np.random.default_rng(0).normal(size=q.shape)


def after_a_pause(first, second):
    """Return (time, q) of two recordings."""
    return (np.concatenate([first[0], second[0] - second[0][0] + first[0][-1] + PAUSE]),
            np.concatenate([first[1], second[1]]))


@pytest.mark.parametrize('start', [0.0, 3.3, 6.6])
@pytest.mark.parametrize('duration', [5.2, 10.0, 20.0, MAIN])
def test_the_same_motion_in_two_pieces_has_the_cutoff_of_one(duration, start):
    """The spectrum of a short piece has wide lines, which are no faster motion."""
    main, piece = moved(0.0, MAIN), moved(start, duration)
    for parts in ((main, piece), (piece, main)):
        assert cutoff_of(*after_a_pause(*parts)) == pytest.approx(cutoff_of(*main), rel=0.1)


def test_a_stall_of_the_logger_does_not_raise_the_cutoff():
    """It divides a recording before its last six seconds."""
    time, q = moved(0.0, MAIN)
    kept = (time < MAIN - 12.0) | (time >= MAIN - 6.0)
    assert cutoff_of(time[kept], q[kept]) == pytest.approx(cutoff_of(time, q), rel=0.1)


@pytest.mark.parametrize('duration', [5.2, 10.0, 20.0])
def test_a_short_fast_recording_raises_the_cutoff(duration):
    slow, fast = moved(0.0, MAIN, slower=10.0), moved(0.0, duration)
    for parts in ((slow, fast), (fast, slow)):
        assert cutoff_of(*after_a_pause(*parts)) == pytest.approx(cutoff_of(*fast))


def test_a_fast_recording_of_five_seconds_is_not_considered():
    slow = moved(0.0, MAIN, slower=10.0)
    assert cutoff_of(*after_a_pause(slow, moved(0.0, 5.0))) == cutoff_of(*slow)
