"""Reduce millions of samples to one small triangular least-squares problem: sequential QR.

The rows [Y_b, tau] of each chunk are stacked below the R factor of the chunks before and factored
again; only R is kept: min |Y_b x - tau| is min |R (x, -1)| (TSQR; Golub and Van Loan 2013).
Y'Y, whose condition number is the square of Y's, is never formed. Factors merge in any order
and any grouping, so chunks may come from threads, processes or machines.

There is one factor per degree of freedom, with only the columns that its torque depends on: the
torque of the wrist does not depend on the shoulder. This is a quarter of the work, and the weight
of each joint can be chosen later, when its noise is known. A robot with loops has one factor per
independent joint, see loop_equations.py.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from dynamics_node.identification.coupled_motors import motor_columns
from dynamics_node.identification.decimation import TAPS, decimate, segments
from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.joint_load import joint_load
from dynamics_node.identification.loop_equations import known_values, row_regressor
from dynamics_node.identification.parameters import joint_columns, payload_parameters
from dynamics_node.identification.r_factor import r_factor
from dynamics_node.identification.recording import PAUSE, Recording
from dynamics_node.robot.robot import Robot

CHUNK = 2000  # samples: 8 MB of regressors of seven axes

Tick = Callable[[float], None]
Weigh = Callable[[int, np.ndarray], np.ndarray]


def no_tick(share: float) -> None:
    """Report no progress."""


class TriangularFactors(NamedTuple):
    """The R factors of a set of samples."""

    R: tuple[np.ndarray, ...]   # per row of torques: of [Y_b columns it depends on, tau]
    samples: int                # that were reduced to them


def triangular_factors(robot: Robot, base: BaseParameters, recording: Recording, factor: int = 1,
                       weigh: Weigh | None = None, tick: Tick = no_tick) -> TriangularFactors:
    """Return the TriangularFactors of a recording.

    :param factor: by which rows are decimated first, see decimation.py.
    :param weigh: f(row of torques, its rows (n, k + 1)) -> weights (n,); None for ones.
    :param tick: called after each chunk with the share done; may raise to stop.
    """
    return triangular_parts(robot, base, recording, 1, factor, weigh, tick)[0]


def triangular_parts(robot: Robot, base: BaseParameters, recording: Recording, count: int,
                     factor: int = 1, weigh: Weigh | None = None,
                     tick: Tick = no_tick) -> tuple[TriangularFactors, ...]:
    """Return the TriangularFactors of `count` parts of a recording.

    The parts are consecutive and of equal length. If several recordings, which may be different
    motions, are joined with pauses, each part has its share of every one.
    """
    parts = [empty_factors(base)] * count
    chunks = row_chunks(robot, base, recording, factor, tick)
    places = _places(recording.time, count)
    for at, rows in zip(_slices(recording.time, factor), chunks):
        of_rows = places[at.start + factor * np.arange(len(rows[0]))]   # the first sample of each
        for k in np.unique(of_rows):
            own = [A[of_rows == k] for A in rows]
            parts[k] = merge_factors(parts[k], chunk_factors(own, weigh))
    return tuple(parts)


def _places(time: np.ndarray, count: int) -> np.ndarray:
    """Return the part of each sample, (N,) from 0 to count - 1."""
    recordings = segments(time, PAUSE / np.median(np.diff(time))) if len(time) > 1 else [
        slice(0, len(time))]
    return np.concatenate([count * np.arange(rows.stop - rows.start) // (rows.stop - rows.start)
                           for rows in recordings])


def empty_factors(base: BaseParameters) -> TriangularFactors:
    """Return the factors of no sample, the neutral element of merge_factors."""
    return TriangularFactors(tuple(np.zeros((0, count + 1))
                                   for count in np.count_nonzero(base.depends, axis=1)), 0)


def chunk_factors(rows: Sequence[np.ndarray], weigh: Weigh | None = None) -> TriangularFactors:
    """Return the factors of the rows of one chunk."""
    if weigh is not None:
        rows = [np.sqrt(weigh(k, A))[:, None] * A for k, A in enumerate(rows)]
    return TriangularFactors(tuple(r_factor(A) for A in rows),
                             len(rows[0]) if rows else 0)


def merge_factors(first: TriangularFactors, second: TriangularFactors) -> TriangularFactors:
    """Return the factors of both sets of samples: associative and commutative."""
    return TriangularFactors(
        tuple(r_factor(np.vstack(pair)) for pair in zip(first.R, second.R)),
        first.samples + second.samples)


def merged_factors(base: BaseParameters, parts: Sequence[TriangularFactors]) -> TriangularFactors:
    """Return the factors of all parts."""
    return reduce(merge_factors, parts, empty_factors(base))


def residuals(robot: Robot, base: BaseParameters, recording: Recording, *estimates: np.ndarray,
              factor: int = 1, tick: Tick = no_tick) -> list[np.ndarray]:
    """Return tau - Y_b x for each estimate x (b,) of the base parameters, a list of (N, rows)."""
    left = [[np.stack([misfit(A, x[depends]) for A, depends in zip(rows, base.depends)], -1)
             for x in estimates]
            for rows in row_chunks(robot, base, recording, factor, tick)]
    return [np.concatenate(parts) for parts in zip(*left)]


def misfit(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return tau - Y x of rows A = [Y, tau], (n,)."""
    return A[:, -1] - A[:, :-1] @ x


def row_chunks(robot: Robot, base: BaseParameters, recording: Recording, factor: int = 1,
               tick: Tick = no_tick) -> Iterator[list[np.ndarray]]:
    """Yield the rows of each chunk: per degree of freedom [columns it depends on, tau].

    The torque of payloads is known and subtracted.
    """
    if base.loops is not None:
        yield from _loop_chunks(robot, base, recording, factor, tick)
        return
    layout = base.layout
    load = payload_parameters(robot, layout)[:layout.inertial]
    joints = np.arange(len(layout.joints))[base.rows]
    columns = [_columns(base, row, k) for row, k in enumerate(joints)]
    for at in _slices(recording.time, factor):
        v, a, tau = recording.v[at], recording.a[at], recording.tau[at]
        Y = robot.regressor(recording.q[at], v, a)
        motors = motor_columns(layout.motors, layout.friction_speed, v, a)
        carried = joint_load(layout.load, Y).T if layout.load else [None] * robot.nv
        if load.any():
            tau = tau - Y @ load
        yield [decimate(np.column_stack([Y[:, k, inertial],
                                         joint_columns(layout, k, v[:, k], a[:, k],
                                                       carried[k])[:, own],
                                         motors[:, k, coupled], tau[:, k]]), factor)
               for k, (inertial, own, coupled) in zip(joints, columns)]
        tick(at.stop / len(recording.time))


def _loop_chunks(robot: Robot, base: BaseParameters, recording: Recording, factor: int, tick: Tick
                 ) -> Iterator[list[np.ndarray]]:
    """Yield the rows of a robot with loops, per independent joint."""
    known = known_values(robot, base.layout)
    for at in _slices(recording.time, factor):
        Y = row_regressor(robot, base.layout, base.loops, recording.q[at], recording.v[at],
                          recording.a[at])
        tau = recording.tau[at][:, base.rows] - Y @ known
        yield [decimate(np.column_stack([Y[:, k, base.kept[depends]], tau[:, k]]), factor)
               for k, depends in enumerate(base.depends)]
        tick(at.stop / len(recording.time))


def _slices(time: np.ndarray, factor: int) -> Iterator[slice]:
    """Yield slices of samples; before decimation they overlap by the length of the filter."""
    step = factor * max(1, CHUNK // factor)
    overlap = (TAPS - 1) * factor if factor > 1 else 0
    for segment in segments(time) if factor > 1 else [slice(0, len(time))]:
        for start in range(segment.start, segment.stop - overlap, step):
            yield slice(start, min(start + step + overlap, segment.stop))


def _columns(base: BaseParameters, row: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns that the row of joint k depends on: of bodies, of itself, of motors."""
    layout, depends = base.layout, base.kept[base.depends[row]]
    first = layout.of_motors.start
    return (depends[depends < layout.inertial],
            depends[(depends >= layout.inertial) & (depends < first)] - layout.of_joint(k).start,
            depends[depends >= first] - first)
