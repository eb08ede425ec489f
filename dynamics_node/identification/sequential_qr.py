"""How do a million samples become one small triangular problem?

Chunk by chunk: the rows [Y_b, tau] of a chunk, below the R factor of those before, are factored
again, and only R is kept: min |Y_b x - tau| is min |R (x, -1)| (TSQR; Golub and Van Loan 2013).
R is not made of Y'Y, whose condition number is the square of Y's. Factors merge in any order
and any grouping, so chunks may come from threads, processes or machines.

There is one factor per degree of freedom, of the columns it feels alone: the torque of the wrist
knows nothing of the shoulder. That is a quarter of the work, and it leaves open how much each
joint's torque is to count, which depends on its noise, known later. In a robot with loops there is
one factor per independent joint, see loop_equations.py.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.identification.decimation import TAPS, decimate, segments
from dynamics_node.identification.loop_equations import known_values, row_regressor
from dynamics_node.identification.parameters import joint_columns, payload_parameters

CHUNK = 2000  # samples: 8 MB of regressors of seven axes


class TriangularFactors(NamedTuple):
    """What is left of all samples."""

    R: tuple        # per row of torques, the R factor of [Y_b columns that it feels, tau]
    samples: int


def triangular_factors(robot, base, recording, factor=1, weigh=None, tick=lambda share: None):
    """Return the Factors of a recording.

    :param base: BaseParameters, whose columns are used.
    :param factor: by which rows are filtered and thinned out first, see decimation.py.
    :param weigh: f(dof, its rows (n, k + 1)) -> weight of each row, (n,); None for ones.
    :param tick: called after each chunk with the share that is done; may raise to stop.
    """
    factors = empty_factors(base)
    for rows in chunks(robot, base, recording, factor, tick):
        factors = merge_factors(factors, chunk_factors(rows, weigh))
    return factors


def empty_factors(base):
    """Return the Factors of no sample: what merge_factors leaves as it is."""
    return TriangularFactors(tuple(np.zeros((0, np.count_nonzero(felt) + 1)) for felt in base.felt),
                             0)


def chunk_factors(rows, weigh=None):
    """Return the Factors of the rows of one chunk."""
    if weigh is not None:
        rows = [np.sqrt(weigh(k, A))[:, None] * A for k, A in enumerate(rows)]
    return TriangularFactors(tuple(np.linalg.qr(A, mode='r') for A in rows),
                             len(rows[0]) if rows else 0)


def merge_factors(first, second):
    """Return the Factors of both sets of samples; associative, and order does not matter."""
    return TriangularFactors(tuple(np.linalg.qr(np.vstack(pair), mode='r')
                         for pair in zip(first.R, second.R)), first.samples + second.samples)


def residuals(robot, base, recording, *estimates, factor=1, tick=lambda share: None):
    """Return tau - Y_b x for each estimate x (b,) of the base parameters, a list of (N, rows)."""
    left = [[np.stack([misfit(A, x[felt]) for A, felt in zip(rows, base.felt)], -1)
             for x in estimates]
            for rows in chunks(robot, base, recording, factor, tick)]
    return [np.concatenate(parts) for parts in zip(*left)]


def misfit(A, x):
    """Return tau - Y x of rows [Y, tau], (n,)."""
    return A[:, -1] - A[:, :-1] @ x


def chunks(robot, base, recording, factor=1, tick=lambda share: None):
    """Yield the rows of chunk after chunk: per degree of freedom [columns that it feels, tau].

    The torque of what the robot carries is known and taken off.
    """
    if base.loops is not None:
        yield from _loop_chunks(robot, base, recording, factor, tick)
        return
    layout = base.layout
    load = payload_parameters(robot, layout)[:layout.inertial]
    wanted = [_places(base, k) for k in range(len(layout.joints))]
    for at in _pieces(recording.time, factor):
        v, a, tau = recording.v[at], recording.a[at], recording.tau[at]
        Y = robot.regressor(recording.q[at], v, a)
        if load.any():
            tau = tau - Y @ load
        yield [decimate(np.column_stack([Y[:, k, inertial],
                                         joint_columns(layout, v[:, k], a[:, k])[:, own],
                                         tau[:, k]]), factor)
               for k, (inertial, own) in enumerate(wanted)]
        tick(at.stop / len(recording.time))


def _loop_chunks(robot, base, recording, factor, tick):
    """Yield the same of a robot with loops, per independent joint."""
    known = known_values(robot, base.layout)
    for at in _pieces(recording.time, factor):
        Y = row_regressor(robot, base.layout, base.loops, recording.q[at], recording.v[at],
                          recording.a[at])
        tau = recording.tau[at][:, base.rows] - Y @ known
        yield [decimate(np.column_stack([Y[:, k, base.kept[felt]], tau[:, k]]), factor)
               for k, felt in enumerate(base.felt)]
        tick(at.stop / len(recording.time))


def _pieces(time, factor):
    """Yield slices of samples; where rows are filtered, they overlap by what a filter needs."""
    step = factor * max(1, CHUNK // factor)
    overlap = (TAPS - 1) * factor if factor > 1 else 0
    for segment in segments(time) if factor > 1 else [slice(0, len(time))]:
        for start in range(segment.start, segment.stop - overlap, step):
            yield slice(start, min(start + step + overlap, segment.stop))


def _places(base, k):
    """Return where the columns felt by a degree of freedom are: of bodies, of its own."""
    felt = base.kept[base.felt[k]]
    inertial = felt[felt < base.layout.inertial]
    own = felt[felt >= base.layout.inertial] - base.layout.of_joint(k).start
    return inertial, own
