"""Test filtered motions of episodes: known motions, identification's own result, marks."""

import numpy as np
import pytest
from support.robot_data_sets import RATE, motion

from dynamics_node.data.motion import MARKS, filtered_motion
from dynamics_node.identification import raw_recording
from dynamics_node.identification.filtering import smooth

CUTOFF = 2.5   # [Hz]
EXACT = 2e-5   # of the greatest value, far from ends: the gain of the filter at 0.5 Hz is 1 - 3e-6
# At the first row that is not marked, 3 periods from an end: exp(-3 * 2 pi sin(pi/8)) is left of a
# transient, the slowest pole of the filter.
AT_THE_EDGE = 7.4e-4


def rows_of(lengths=(500, 300, 800)):
    """Return (time, q, v, a, episode) of several episodes, each with its own time."""
    parts = [(np.arange(n) / RATE, *motion(np.arange(n) / RATE, phase=k), np.full(n, k))
             for k, n in enumerate(lengths)]
    return tuple(np.concatenate(part) for part in zip(*parts))


def marked(found, name):
    return np.flatnonzero(found.marks & MARKS[name])


@pytest.mark.parametrize('rate', [None, RATE])
def test_velocities_and_accelerations_of_a_known_motion(rate):
    """Away from the ends of each episode; the ends are marked."""
    time, q, v, a, episode = rows_of()
    found = filtered_motion(time, q, episode, CUTOFF, rate)
    assert set(found.marks) == {0, MARKS['edge']}
    inside = found.marks == 0
    assert 0.7 < inside.mean() < 0.9
    for got, want in ((found.q, q), (found.v, v), (found.a, a)):
        error = np.abs(got - want).max(axis=1) / np.abs(want).max()
        assert error[inside].max() < AT_THE_EDGE
        assert error[[250, 1200]].max() < EXACT   # the middle of the long episodes
        assert np.isfinite(got).all()


def test_the_numbers_are_those_of_identification():
    """An episode as a recording: the same filter, to the last bits."""
    time, q, _, _, episode = rows_of((900,))
    q = q + 1e-3 * np.random.default_rng(0).normal(size=q.shape)
    found = filtered_motion(time, q, episode, CUTOFF)
    wanted = smooth(raw_recording(('a', 'b'), time, q, q), CUTOFF)
    rows = np.searchsorted(time, wanted.time - 1e-6)
    assert len(rows) > 700 and not found.marks[rows].any()
    for got, want in ((found.q, wanted.q), (found.v, wanted.v), (found.a, wanted.a)):
        assert np.abs(got[rows] - want).max() < 1e-10 * np.abs(want).max()


def test_one_episode_does_not_change_another():
    """Alone or between others: equal to the bit."""
    time, q, _, _, episode = rows_of()
    found = filtered_motion(time, q, episode, CUTOFF, RATE)
    rows = episode == 1
    alone = filtered_motion(time[rows], q[rows], episode[rows], CUTOFF, RATE)
    for got, want in zip(found, alone):
        assert np.array_equal(got[rows], want)


def test_times_rounded_to_float32_with_a_rate():
    """Stamps of a long recording have steps of 60 us; the rate says where the rows are."""
    time, q, v, _, episode = rows_of((800,))
    found = filtered_motion(np.float32(time + 600.0).astype(float), q, episode, CUTOFF, RATE)
    inside = found.marks == 0
    assert np.abs(found.v - v)[inside].max() < AT_THE_EDGE * np.abs(v).max()


def test_missing_positions_are_marked_and_bridged():
    """NaN in one row: this row has no values, the rows beside it do."""
    time, q, v, a, episode = rows_of((800,))
    q[400, 1] = np.nan
    q[450, 0] = 1e9
    found = filtered_motion(time, q, episode, CUTOFF)
    assert marked(found, 'no_position').tolist() == [400, 450]
    assert np.isnan(found.v[[400, 450]]).all()
    inside = found.marks == 0
    assert inside[401] and inside[399]
    assert np.abs(found.v - v)[inside].max() < AT_THE_EDGE * np.abs(v).max()
    assert np.abs(found.a - a)[inside].max() < AT_THE_EDGE * np.abs(a).max()


@pytest.mark.parametrize(('row', 'value', 'late'), [
    (300, 2.0, [300]), (300, 1e6, [300]), (300, 299 / RATE, [300]), (300, np.nan, [])])
def test_times_out_of_order(row, value, late):
    """A stamp in the past, far in the future, a repeated one: one row is marked, not all after."""
    time, q, v, _, episode = rows_of((800,))
    time[row] = value
    found = filtered_motion(time, q, episode, CUTOFF)
    assert marked(found, 'out_of_order').tolist() == late
    assert marked(found, 'no_position').tolist() == ([] if late else [row])
    inside = found.marks == 0
    assert inside.sum() > 600
    assert np.abs(found.v - v)[inside].max() < AT_THE_EDGE * np.abs(v).max()


def test_a_gap_begins_the_filter_anew():
    """A second without rows: the row after it is marked, and the edges on both sides."""
    time, q, v, _, episode = rows_of((1500,))
    kept = np.abs(np.arange(1500) - 700) > 25
    found = filtered_motion(time[kept], q[kept], episode[kept], CUTOFF)
    assert marked(found, 'after_gap').tolist() == [675]
    assert found.marks[674] == MARKS['edge']
    inside = found.marks == 0
    assert np.abs(found.v - v[kept])[inside].max() < AT_THE_EDGE * np.abs(v).max()


def test_short_and_slow_episodes_have_no_derivatives():
    """Four rows, or rows far slower than the filter."""
    time, q, _, _, episode = rows_of((600, 4, 600))
    found = filtered_motion(time, q, episode, CUTOFF)
    assert marked(found, 'too_short').tolist() == [600, 601, 602, 603]
    assert np.isnan(found.v[600:604]).all() and np.isfinite(found.v[604:]).all()
    slow = filtered_motion(2.0 * np.arange(50.0), np.zeros((50, 2)), np.zeros(50), CUTOFF)
    assert len(marked(slow, 'too_short')) == 50


def test_irregular_times_are_resampled():
    """Jitter of a fifth of a step."""
    time, q, v, a, episode = rows_of((1000,))
    time = time + 0.2 / RATE * np.random.default_rng(1).uniform(-1.0, 1.0, len(time))
    q, v, a = motion(time)
    found = filtered_motion(time, q, episode, CUTOFF)
    inside = found.marks == 0
    assert inside.mean() > 0.8
    assert np.abs(found.v - v)[inside].max() < AT_THE_EDGE * np.abs(v).max()
    assert np.abs(found.a - a)[inside].max() < AT_THE_EDGE * np.abs(a).max()
