"""Filter and differentiate the positions of many episodes, row by row, and mark bad rows.

The filter and the differences are those of `identification.filtering`: a Butterworth filter that is
run forwards and backwards, then differences over five points. Each row of the data set keeps its
place; what identification leaves out is computed here where that is possible, and marked:

| mark | meaning | value of filtered quantities |
|---|---|---|
| 1 `no_position` | a position or the time is not a number, or is absurd | NaN |
| 2 `out_of_order` | the time is not later than that of the rows before it | NaN |
| 4 `after_gap` | rows are missing before this one: the filter begins anew | computed |
| 8 `edge` | samples on one side of the filter only, within 3 periods of its cutoff | computed |
| 16 `too_short` | a part without gaps of less than five rows, or sampled too slowly | NaN |
| 32 `no_effort` | a measured effort is not a number | external torque NaN |
| 64 `outside_limits` | a position is beyond a joint limit of the model | computed |
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.data.filter_kernel import zero_phase
from dynamics_node.identification.cutoff import HIGHEST
from dynamics_node.identification.filtering import (
    EDGE,
    SHORTEST,
    differentiate,
    low_pass,
)
from dynamics_node.identification.resampling import JITTER, LONGEST_GAP, LONGEST_STEP, uniform

MARKS = {'no_position': 1, 'out_of_order': 2, 'after_gap': 4, 'edge': 8, 'too_short': 16,
         'no_effort': 32, 'outside_limits': 64}
LARGEST = 1e6        # [rad or m] a greater position cannot be a measurement
FEWEST = 5           # rows of a part: differences are over five points
BESIDE = 2           # rows that these differences need on either side
TOGETHER = 8192      # rows of all parts in one call of the filter: they stay in a core's cache
MEMORY = 12.0        # periods of the cutoff after which the filter has forgotten: 3e-13 is left


class Motion(NamedTuple):
    """Filtered positions and their derivatives; NaN in rows that are marked so."""

    q: np.ndarray      # (N, joints) [rad or m]
    v: np.ndarray      # (N, joints) [rad/s or m/s]
    a: np.ndarray      # (N, joints) [rad/s^2 or m/s^2]
    marks: np.ndarray  # (N,) uint8, sums of MARKS


def invalid_positions(q: np.ndarray) -> np.ndarray:
    """Return a mask of the rows without a position of every joint, (N,)."""
    return ~(np.abs(q) <= LARGEST).all(axis=1)   # true for NaN


def filtered_motion(time: np.ndarray, q: np.ndarray, episode: np.ndarray, cutoff: float,
                    rate: float | None = None) -> Motion:
    """Return the Motion of rows of several episodes.

    :param time: (N,) [s]; q: (N, joints) [rad or m].
    :param episode: (N,) a change begins another episode.
    :param cutoff: cutoff of the filter [Hz].
    :param rate: [Hz] rows are at multiples of its period, to which times are rounded; None: times
        are used as they are.
    """
    marks = np.where(invalid_positions(q) | ~np.isfinite(time), MARKS['no_position'],
                     0).astype(np.uint8)
    starts = np.flatnonzero(np.append(True, episode[1:] != episode[:-1]))
    marks[_out_of_order(time, starts, marks == 0)] |= MARKS['out_of_order']
    filtered, v, a = (np.full(q.shape, np.nan) for _ in range(3))
    kept = np.flatnonzero(marks == 0)
    if len(kept):
        number = np.searchsorted(starts, kept, side='right')   # of the episode
        found = _parts_of(time[kept], number, cutoff, rate)
        _smooth_parts(time, q, kept, found, cutoff, rate, (filtered, v, a))
        _mark_parts(marks, time, kept, found, number, cutoff)
        marks[kept[np.isnan(v[kept, :1]).any(axis=1)]] |= MARKS['too_short']
    return Motion(filtered, v, a, marks)


def _out_of_order(time: np.ndarray, starts: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Return a mask of rows whose time is not later than that of the rows before.

    One stamp far in the future would make all rows after it late. So two sets are compared: rows
    not later than a row before them, and rows not earlier than a row after them; the smaller set
    is marked.
    """
    late = np.zeros(len(time), dtype=bool)
    steps = np.diff(time)
    backwards = np.flatnonzero(~(steps > 0.0)) + 1   # NaN steps too
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


def _parts_of(time: np.ndarray, number: np.ndarray, cutoff: float, rate: float | None) -> _Parts:
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


class _Part(NamedTuple):
    """Rows without a gap, at uniform times."""

    rows: slice | np.ndarray
    q: np.ndarray       # (n, joints), at these rows
    period: float       # [s]


def _smooth_parts(time: np.ndarray, q: np.ndarray, kept: np.ndarray, found: _Parts, cutoff: float,
                  rate: float | None, out: Sequence[np.ndarray]) -> None:
    """Filter and differentiate each part; write into `out`, the arrays of q, v and a."""
    even = []
    for first, stop in zip(found.bounds[:-1], found.bounds[1:]):
        if stop - first < FEWEST:
            continue
        own = kept[first:stop]
        rows = slice(own[0], own[-1] + 1) if own[-1] - own[0] == len(own) - 1 else own
        t = time[rows]
        t = t - t[0] if rate is None else np.round((t - t[0]) * rate) / rate
        steps = max(round(t[-1] / found.step), 1)
        period = t[-1] / steps if rate is None else found.step
        if cutoff * period > HIGHEST:
            continue   # marked as too short: these rows are sampled too slowly for the filter
        if steps == len(t) - 1 and (
                np.abs(t - period * np.arange(len(t))).max() < JITTER * period):
            even.append(_Part(rows, q[rows], period))
        else:
            for each, values in zip(out, _resampled(t, q[rows], period, cutoff)):
                each[rows] = values
    for group in _groups(even, found.step):
        smooth = zero_phase([part.q for part in group], 1.0 / group[0].period, cutoff)
        for part, x in zip(group, smooth):
            for each, values in zip(out, (x, *differentiate(_extended(x), part.period))):
                each[part.rows] = values


def _groups(parts: Iterable[_Part], step: float) -> Iterator[list[_Part]]:
    """Yield lists of parts for one call of the filter: of similar lengths and one rate."""
    group: list[_Part] = []
    for part in sorted(parts, key=lambda part: len(part.q)):
        if group and (len(part.q) * (len(group) + 1) > TOGETHER
                      or abs(part.period - group[0].period) > JITTER * step):
            yield group
            group = []
        group.append(part)
    if group:
        yield group


def _extended(x: np.ndarray) -> np.ndarray:
    """Return rows with two more at each end, point symmetric about the end."""
    low, high = 2.0 * x[0] - x[BESIDE:0:-1], 2.0 * x[-1] - x[-2:-BESIDE - 2:-1]
    return np.concatenate([low, x, high])


def _resampled(t: np.ndarray, q: np.ndarray, period: float, cutoff: float) -> Sequence[np.ndarray]:
    """Return (q, v, a) at irregular times: filtered and differentiated at uniform times."""
    from scipy.interpolate import CubicSpline

    grid, x = uniform(t, q, period)
    smooth = low_pass(x, 1.0 / period, cutoff)
    found = np.column_stack([smooth, *differentiate(_extended(smooth), period)])
    return np.split(CubicSpline(grid, found)(np.clip(t, grid[0], grid[-1])), 3, axis=1)


def _mark_parts(marks: np.ndarray, time: np.ndarray, kept: np.ndarray, found: _Parts,
                number: np.ndarray, cutoff: float) -> None:
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
