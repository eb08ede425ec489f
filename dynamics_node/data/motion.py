"""Filter and differentiate the positions of many episodes, row by row, and mark bad rows.

The filter and the differences are those of `identification.filtering`: a Butterworth filter that is
run forwards and backwards, then differences over five points. Each row of the data set keeps its
place; what identification leaves out is computed here where that is possible, and marked:

| mark | meaning | value of filtered quantities |
|---|---|---|
| 1 `no_position` | a position or the time is not a number, or is absurd | NaN |
| 2 `out_of_order` | the time is not later than that of the rows before it | NaN |
| 4 `after_gap` | rows are missing before this one: the filter begins anew | computed |
| 8 `edge` | the filter has samples on one side only, within three periods of its cutoff | computed |
| 16 `too_short` | a part without gaps of less than five rows, or sampled too slowly | NaN |
| 32 `no_effort` | a measured effort is not a number | external torque NaN |
| 64 `outside_limits` | a position is beyond a joint limit of the model | computed |
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.identification.cutoff import HIGHEST
from dynamics_node.identification.filtering import EDGE, SHORTEST, differentiate, low_pass
from dynamics_node.identification.resampling import JITTER, LONGEST_GAP, LONGEST_STEP, uniform

MARKS = {'no_position': 1, 'out_of_order': 2, 'after_gap': 4, 'edge': 8, 'too_short': 16,
         'no_effort': 32, 'outside_limits': 64}
LARGEST = 1e6        # [rad or m] a position beyond is no measurement
FEWEST = 5           # rows of a part: differences are over five points
BESIDE = 2           # rows that these differences need on either side
MEMORY = 12.0        # periods of the cutoff after which the filter has forgotten: 3e-13 is left


class Motion(NamedTuple):
    """Filtered positions and their derivatives; NaN in rows that are marked so."""

    q: np.ndarray      # (N, joints) [rad or m]
    v: np.ndarray      # (N, joints) [rad/s or m/s]
    a: np.ndarray      # (N, joints) [rad/s^2 or m/s^2]
    marks: np.ndarray  # (N,) uint8, sums of MARKS


def invalid_positions(q: np.ndarray) -> np.ndarray:
    """Return a mask of the rows without a position of every joint, (N,)."""
    return ~(np.abs(q) <= LARGEST).all(axis=1)   # NaN is not below


def filtered_motion(time: np.ndarray, q: np.ndarray, episode: np.ndarray, cutoff: float,
                    rate: float | None = None) -> Motion:
    """Return the Motion of rows of several episodes.

    :param time: (N,) [s]; q: (N, joints) [rad or m].
    :param episode: (N,) a change begins another episode.
    :param cutoff: of the filter [Hz].
    :param rate: [Hz] rows are at multiples of its period, to which times are rounded; None: times
        are used as they are.
    """
    marks = np.where(invalid_positions(q) | ~np.isfinite(time), MARKS['no_position'],
                     0).astype(np.uint8)
    starts = np.flatnonzero(np.append(True, episode[1:] != episode[:-1]))
    marks[_out_of_order(time, starts, marks == 0)] |= MARKS['out_of_order']
    filtered, v, a = (np.full(q.shape[::-1], np.nan).T for _ in range(3))
    kept = np.flatnonzero(marks == 0)
    if len(kept):
        number = np.searchsorted(starts, kept, side='right')   # of the episode
        found = _parts_of(time[kept], number, cutoff, rate)
        _smooth_parts(time, q, kept, found, cutoff, rate, (filtered, v, a))
        _mark_parts(marks, time, kept, found, number, cutoff)
        marks[kept[np.isnan(v[kept, :1]).any(axis=1)]] |= MARKS['too_short']
    return Motion(filtered, v, a, marks)


def _out_of_order(time, starts, valid):
    """Return a mask of rows whose time is not later than that of the rows before.

    One late stamp far in the future would make all rows after it late: where fewer rows are
    earlier than the ones before them if read from the end, those are marked.
    """
    late = np.zeros(len(time), dtype=bool)
    steps = np.diff(time)
    backwards = np.flatnonzero(~(steps > 0.0)) + 1   # NaN is not above
    backwards = np.setdiff1d(backwards, starts, assume_unique=True)
    for first in np.unique(np.searchsorted(starts, backwards, side='right') - 1):
        stop = starts[first + 1] if first + 1 < len(starts) else len(time)
        rows = np.arange(starts[first], stop)[valid[starts[first]:stop]]
        t = time[rows]
        if len(t) < 2:
            continue
        before = t[1:] <= np.maximum.accumulate(t)[:-1]
        after = t[:-1] >= np.minimum.accumulate(t[::-1])[::-1][1:]
        if after.sum() < before.sum():
            late[rows[:-1][after]] = True
        else:
            late[rows[1:][before]] = True
    return late


class _Parts(NamedTuple):
    """Parts without gaps of the kept rows."""

    bounds: np.ndarray   # (parts + 1,) indices into the kept rows
    step: float          # usual step [s]


def _parts_of(time, number, cutoff, rate):
    steps = np.diff(time)
    same = number[1:] == number[:-1]
    if rate is None:
        inside = steps[same]
        step = float(np.median(inside)) if len(inside) else 1.0
    else:
        step = 1.0 / rate
    longest = max(LONGEST_STEP * step, LONGEST_GAP / cutoff)
    edges = np.flatnonzero(~same | (steps > longest)) + 1
    return _Parts(np.concatenate([[0], edges, [len(time)]]), step)


def _smooth_parts(time, q, kept, found, cutoff, rate, out):
    """Filter and differentiate each part; write into `out`, the arrays of q, v and a."""
    whole, extended, periods = [], [], []   # of the parts with uniform times
    for first, stop in zip(found.bounds[:-1], found.bounds[1:]):
        if stop - first < FEWEST:
            continue
        rows = kept[first:stop]
        rows = slice(rows[0], rows[-1] + 1) if rows[-1] - rows[0] == len(rows) - 1 else rows
        t = time[rows]
        t = t - t[0]
        steps = max(round(t[-1] / found.step), 1)
        period = found.step if rate is not None else t[-1] / steps
        if rate is not None:
            t = np.round(t * rate) / rate
        if cutoff * period > HIGHEST:
            continue   # marked as too short: these rows are sampled too slowly for the filter
        even = steps == len(t) - 1 and (
            np.abs(t - period * np.arange(len(t))).max() < JITTER * period)
        if even:
            smooth = low_pass(q[rows], 1.0 / period, cutoff).T
            whole.append(rows)
            extended.append(_extended(smooth))
            periods.append(period)
        else:
            for each, values in zip(out, _resampled(t, q[rows], period, cutoff)):
                each[rows] = values
    if whole:
        _differentiate_together(whole, extended, periods, out)


def _differentiate_together(whole, extended, periods, out):
    """Differentiate all parts in one call: their ends are extended, so none reads another."""
    joined = np.concatenate(extended, axis=1).T
    v, a = differentiate(joined, 1.0)
    first = 0
    for rows, each, period in zip(whole, extended, periods):
        count = each.shape[1] - 2 * BESIDE
        out[0][rows] = each[:, BESIDE:-BESIDE].T
        out[1][rows] = v[first:first + count] * (1.0 / period)
        out[2][rows] = a[first:first + count] * (1.0 / period ** 2)
        first += each.shape[1]


def _extended(x):
    """Return the columns with two values more at each end, point symmetric about the end."""
    low = 2.0 * x[:, :1] - x[:, BESIDE:0:-1]
    high = 2.0 * x[:, -1:] - x[:, -2:-BESIDE - 2:-1]
    return np.concatenate([low, x, high], axis=1)


def _resampled(t, q, period, cutoff):
    """Return (q, v, a) at irregular times, by uniform ones."""
    from scipy.interpolate import CubicSpline

    grid, x = uniform(t, q, period)
    smooth = low_pass(x, 1.0 / period, cutoff)
    v, a = differentiate(_extended(smooth.T).T, period)
    at = np.clip(t, grid[0], grid[-1])
    return np.split(CubicSpline(grid, np.column_stack([smooth, v, a]))(at), 3, axis=1)


def _mark_parts(marks, time, kept, found, number, cutoff):
    """Mark rows after gaps and at the edges of the filter."""
    first, stop = found.bounds[:-1], found.bounds[1:]
    inside = first[1:][number[first[1:]] == number[first[1:] - 1]]
    marks[kept[inside]] |= MARKS['after_gap']
    begin, end = time[kept[first]], time[kept[stop - 1]]
    sizes = stop - first
    t = time[kept]
    near = np.minimum(t - np.repeat(begin, sizes), np.repeat(end, sizes) - t) < EDGE / cutoff
    near |= np.repeat(end - begin < SHORTEST / cutoff, sizes)
    marks[kept[near]] |= MARKS['edge']
