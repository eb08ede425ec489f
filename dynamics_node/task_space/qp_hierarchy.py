"""Solve hierarchies of tasks with inequalities, one QP per level (Hutter 2017, eq. 3.107).

It adds inequalities to hierarchy.py: strict ones, and ones of each level in least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dynamics_node.constrained.row_decomposition import RANK, rank_of
from dynamics_node.task_space.hierarchy import UNFELT, factors, identity, norm, null_space
from dynamics_node.task_space.qp import TOLERANCE, PreparedQp, Status

# Weight of a proximal term on the directions without effect on a level: it makes the QP strictly
# convex, and vanishes after a few iterations.
PROXIMAL = 1e-6
ROUNDS, SETTLED = 20, 1e-12
STEADY = 0.5    # moves that shrink less in a round, and keep their direction, are lengthened
GRADED_ROUNDS = 100   # of the attempt in the units of the limits
WEAK = 1e-3     # singular values below this share of a level's norm are those of weak directions
ACTIVE = 1e-8   # least multiplier of an active row, relative to the goal
MISSED = 1e-8   # greatest error of strict equalities, relative to b; with more they are infeasible


class Level(NamedTuple):
    """A level: least squares of the violations of A x = b and lower <= C x <= upper."""

    A: np.ndarray             # (m, n)
    b: np.ndarray             # (m,)
    C: np.ndarray | None = None      # (k, n), None for no inequalities
    lower: np.ndarray | None = None  # (k,) -inf for none
    upper: np.ndarray | None = None  # (k,) inf for none


class HierarchySolution(NamedTuple):
    """The solution; x is undefined unless the status is 'solved'."""

    x: np.ndarray    # (n,)
    status: Status   # 'infeasible': the strict level has no solution


def hierarchical_qp(levels: Sequence[Level], strict: Level | None = None,
                    last: Level | None = None) -> HierarchySolution:
    r"""Return the HierarchySolution: level i is optimal, with the levels before it unchanged.

    min |A_i x - b_i|^2 + |s|^2,   lower_i - s <= C_i x <= upper_i + s,

    where A_k x of all higher levels k and the violations of their inequalities stay constant.
    Among several solutions x is the shortest, or that of the `last` level.

    :param levels: Level records, the highest priority first; at least one, or `strict`.
    :param strict: the strict Level: all its equalities and inequalities hold.
    :param last: a level that determines x, in place of the shortest x.

    Hutter 2017, eq. 3.107, where 'A of full column rank' should read full row rank: then c = 0.
    The equalities of higher levels are satisfied by their null space as in
    `hierarchical_least_squares`, not by rows of the QP, whose errors of 1e-9 would accumulate from
    level to level.
    """
    first = strict if strict is not None else levels[0]
    n = np.shape(first.A)[1]
    limits = _FixedRows(np.zeros((0, n)), np.zeros(0), np.zeros(0))
    x, N = np.zeros(n), identity(n)
    if strict is not None:
        if len(strict.A):
            parts = factors(strict.A, norm(strict.A))
            x, N = parts.solved(strict.b), parts.free
            missed = np.abs(strict.A @ x - strict.b).max()
            if missed > MISSED * (1.0 + np.abs(strict.b).max()):
                return HierarchySolution(x, 'infeasible')
        limits = limits.with_rows(strict)
    shortest = Level(identity(n), np.zeros(n)) if last is None else last
    for level in [*levels, shortest]:
        x, N, limits, status = _improved(x, N, level, limits)
        if status != 'solved' or not N.shape[1]:  # no freedom left for lower levels
            return HierarchySolution(x, status)
    return HierarchySolution(x, 'solved')


class _FixedRows(NamedTuple):
    """The inequalities that a level must not violate any further."""

    G: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def with_rows(self, level: Level, x: np.ndarray | None = None) -> _FixedRows:
        """Return these rows and those of a level, the latter relaxed to their violation at x."""
        C, lower, upper = level.C, level.lower, level.upper
        if C is None:
            return self
        assert lower is not None and upper is not None, 'a level with C has both bounds'
        if x is not None:
            lower, upper = np.minimum(lower, C @ x), np.maximum(upper, C @ x)
        if not len(self.G):
            return _FixedRows(C, lower, upper)
        return _FixedRows(np.concatenate([self.G, C]), np.concatenate([self.lower, lower]),
                          np.concatenate([self.upper, upper]))

    def without(self, rows: np.ndarray) -> _FixedRows:
        """Return these without some rows, (m,) booleans."""
        kept = (~rows).nonzero()[0]
        if len(kept) == len(rows):
            return self
        return _FixedRows(self.G[kept], self.lower[kept], self.upper[kept])

    def broken(self, x: np.ndarray) -> np.ndarray:
        """Return which rows x violates beyond the tolerance of the QP, (m,) booleans."""
        value = self.G @ x
        slack = TOLERANCE * (1.0 + np.abs(value))
        return (value < self.lower - slack) | (value > self.upper + slack)

    def reached_from(self, x: np.ndarray, N: np.ndarray) -> bool:
        """Return whether any x + N y keeps all rows: by the shortest y in the units of the rows."""
        value, G, y = self.G @ x, self.G @ N, np.zeros(N.shape[1])
        units = _lengths(G.T)   # one column may have other units than the rest
        nearest = PreparedQp(np.eye(len(y)), G / np.where(units > 0.0, units, 1.0),
                             self.lower - value, self.upper - value)
        return nearest.solved(y).solved


def _improved(x: np.ndarray, N: np.ndarray, level: Level, limits: _FixedRows
              ) -> tuple[np.ndarray, np.ndarray, _FixedRows, Status]:
    """Return (x, N, limits, status) after the optimum of a level over x + N y."""
    all_free = N is identity(len(x))  # of the first level: products with N are left out
    parts = factors(level.A if all_free else level.A @ N, norm(level.A))
    own = limits.with_rows(level)
    if not parts.T.size and not parts.weak and not own.broken(x).any():  # nothing to improve
        return x, N, own, 'solved'
    goal = parts.U.T @ (level.b - level.A @ x)
    T = parts.T if all_free else N @ parts.T
    best = x + T @ goal
    if not own.broken(best).any():  # the unconstrained optimum is feasible
        return best, N @ parts.free, own, 'solved'
    lengths = _lengths(limits.G)
    out_of_reach = (lengths if all_free else _lengths(limits.G @ N)) <= UNFELT * lengths
    if out_of_reach.any():
        if (out_of_reach & limits.broken(x)).any():
            return x, N, limits, 'infeasible'
        limits = limits.without(out_of_reach)
    rest = N @ parts.rest
    slacks = 0 if level.C is None else len(level.C)
    step, active, status = _least_miss(_plain(T, rest, goal, slacks), x, level, limits)
    if status != 'solved':
        step, active, status = _least_miss(_graded(level, x, N, own, slacks), x, level, limits,
                                           GRADED_ROUNDS)
    if status == 'infeasible' and limits.reached_from(x, N):
        status = 'failed'   # the level is so ill-conditioned that the QP takes it for infeasible
    if status != 'solved':
        return x, N, limits, status
    limits = limits.with_rows(level, x + step)
    free = rest[:, parts.weak:]
    if free.shape[1] and active.any():
        # Rows active at one optimum are active at every optimum: from now on equalities.
        active_rows = limits.G[active]
        free = free @ null_space(active_rows @ free, norm(active_rows))
    return x + step, free, limits.without(active), 'solved'


def _lengths(rows: np.ndarray) -> np.ndarray:
    return np.sqrt((rows * rows) @ _ones(rows.shape[1]))  # a third of the time of np.einsum


@lru_cache(maxsize=64)
def _ones(n: int) -> np.ndarray:
    return np.ones(n)


class _Objective(NamedTuple):
    """The level as a QP of y, x + T y:  min y' P y / 2 - goal' y, and a proximal term in P."""

    T: np.ndarray         # (n, k)
    goal: np.ndarray      # (r,) of the first entries of y; zero of the others
    P: np.ndarray         # (k + slacks, k + slacks)
    proximal: np.ndarray  # (k + slacks,) weights


def _plain(T: np.ndarray, rest: np.ndarray, goal: np.ndarray, slacks: int) -> _Objective:
    """Return the _Objective with y = (u, w), |A T u| = |u|, of which w has no effect on A x."""
    r, k = T.shape[1], rest.shape[1]
    return _Objective(np.concatenate([T, rest], axis=1), goal, *_weights(r, k, slacks))


@lru_cache(maxsize=256)
def _weights(strong: int, others: int, slacks: int) -> tuple[np.ndarray, np.ndarray]:
    """Return P and the proximal weights of _Objective; read-only: all callers share them."""
    proximal = np.concatenate([np.zeros(strong), np.full(others, PROXIMAL), np.zeros(slacks)])
    P = np.diag(np.where(proximal > 0.0, proximal, 1.0))
    proximal.flags.writeable = P.flags.writeable = False
    return P, proximal


def _graded(level: Level, x: np.ndarray, N: np.ndarray, limits: _FixedRows, slacks: int
            ) -> _Objective:
    """Return the _Objective whose directions of little effect have the units of the limits.

    In units of u such a direction is so long that the rows of the limits are parallel up to
    rounding: with singular values of 1e-5 of the largest, half of all QPs failed. One without
    effect, in which limits are felt by 1e-6, would take a million proximal steps.
    """
    scale = norm(level.A)
    U, s, Vt = np.linalg.svd(level.A @ N)
    r, p = rank_of(s, scale), rank_of(s, scale * WEAK / RANK)
    others = Vt[p:].T
    _, felt, Wt = np.linalg.svd(limits.G @ N @ others)
    unit = np.zeros(others.shape[1])
    unit[:len(felt)] = felt * (scale / (norm(limits.G) or 1.0))
    effect = s[p:r, None] * Wt.T[:r - p]    # of the rotated others on U' A x
    unit = np.maximum(unit, np.sqrt((effect ** 2).sum(axis=0)))
    unit[unit <= UNFELT * scale] = scale or 1.0
    effect /= unit
    P, proximal = _weights(p, len(unit), slacks)
    P = P.copy()
    P[p:p + len(unit), p:p + len(unit)] += effect.T @ effect
    goal = U[:, :r].T @ (level.b - level.A @ x)
    return _Objective(N @ np.concatenate([Vt[:p].T / s[:p], others @ Wt.T / unit], axis=1),
                      np.concatenate([goal[:p], goal[p:] @ effect]), P, proximal)


def _least_miss(objective: _Objective, x: np.ndarray, level: Level, limits: _FixedRows,
                rounds: int = ROUNDS) -> tuple[np.ndarray, np.ndarray, Status]:
    """Return (step, active, status): x + T y of the least objective + |s|^2 / 2 in the limits.

    Step and active are empty unless the status is 'solved'.

    :return: active: the active rows of the limits, then of the level, booleans.
    """
    T, goal, P, proximal = objective
    r, k = len(goal), T.shape[1]
    G, value = limits.G @ T, limits.G @ x
    lower, upper = limits.lower - value, limits.upper - value
    m, slacks = len(G), 0
    if level.C is not None:  # C x - s <= upper, C x + s >= lower
        slacks, C, at = len(level.C), level.C @ T, level.C @ x
        unlimited, one = np.full(slacks, np.inf), np.eye(slacks)
        G = np.block([[G, np.zeros((m, slacks))], [C, -one], [C, one]])
        lower = np.concatenate([lower, -unlimited, level.lower - at])
        upper = np.concatenate([upper, level.upper - at, unlimited])
    towards = np.zeros(k + slacks)   # minus the slope of the level
    towards[:r] = goal
    problem, size = PreparedQp(P, G, lower, upper), 1.0 + norm(goal)
    pull, last, largest, stride = np.zeros(k + slacks), None, np.inf, 1.0
    for _ in range(rounds):
        linear = -towards - pull
        y, forces, status = problem.minimum(linear)
        if status != 'solved' or not proximal.any():
            break
        pulled = proximal * y
        move, before = pulled - pull, largest
        largest = np.abs(move).max()
        if largest <= SETTLED * size:
            break
        # Until a limit is reached, each round would move as far as the one before: take longer
        # strides.
        if largest > STEADY * before and move @ last > 0.0:
            stride *= 2.0
            pulled = pull + stride * move
        else:
            stride = 1.0
        pull, last = pulled, move
    else:
        status = 'failed'   # a direction without effect on the level has a long way to go
    solution = problem.verified(linear, y, forces, status)
    if not solution.solved:
        return np.zeros(0), np.zeros(0, dtype=bool), solution.status
    force = np.abs(solution.rows) * _lengths(G)
    if slacks:
        force = np.concatenate([force[:m], force[m:m + slacks] + force[m + slacks:]])
    return T @ solution.x[:k], force > ACTIVE * size, 'solved'
