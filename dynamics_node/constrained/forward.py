"""Compute constrained forward dynamics: accelerations and multipliers (Kim 2012, eq. 67-69).

The KKT system [M, -A'; A, 0] is solved by its Schur complement A M^-1 A' (the Delassus matrix).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.constrained import hybrid
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.rows import rows
from dynamics_node.constrained.stabilisation import Stabilisation, stabilised_gamma
from dynamics_node.model.model import Model


class ConstrainedForward(NamedTuple):
    """Acceleration and constraint forces."""

    a: np.ndarray               # (nv,)
    multipliers: np.ndarray     # lambda (m,), on frame 2 from frame 1 in its axes [N, N m]
    margin: np.ndarray          # (m,) positive where the rows are independent of each other
    inertia_margin: np.ndarray  # (nv,) positive where M is regular


def constrained_forward_dynamics(
        model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
        constraints: Sequence[Constraint], wrenches: np.ndarray | None = None,
        stabilisation: Stabilisation = None) -> ConstrainedForward:
    r"""Return the ConstrainedForward of M a + b = tau + A' lambda, A a + gamma = 0.

    lambda = -(A M^-1 A')^-1 (A a_r + gamma),   a = a_r + M^-1 A' lambda,
    where a_r = M^-1 (tau - b) is the acceleration without constraints.

    :param q, v, tau: configuration (nq,), velocity and torque (nv,).
    :param constraints: Constraint records, m rows in all.
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.
    :param stabilisation: (alpha, beta) [1/s] of `stabilisation.stabilised_gamma`, or None.

    Kim 2012, eq. 67-69: one full pass and m + 1 reduced ones, m of them backward only,
    O(n m) + O(m^3). If a margin is not positive the rows are dependent: use
    `rank_deficient.rank_deficient_forward`.
    """
    solve = by_mass_matrix if model.has_mimic else by_articulated_bodies
    return solve(model, q, v, tau, constraints, wrenches, stabilisation)


def by_articulated_bodies(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                          constraints: Sequence[Constraint], wrenches: np.ndarray | None = None,
                          stabilisation: Stabilisation = None) -> ConstrainedForward:
    """Return the ConstrainedForward by O(n) passes, for models without mimic joints."""
    return _solve(hybrid.by_articulated_bodies, model, q, v, tau, constraints, wrenches,
                  stabilisation)


def by_mass_matrix(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                   constraints: Sequence[Constraint], wrenches: np.ndarray | None = None,
                   stabilisation: Stabilisation = None) -> ConstrainedForward:
    """Return the ConstrainedForward by M = L' D L, for any model; cheaper for short chains."""
    return _solve(hybrid.by_blocks, model, q, v, tau, constraints, wrenches, stabilisation)


def _solve(solve: Callable, model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
           constraints: Sequence[Constraint], wrenches: np.ndarray | None,
           stabilisation: Stabilisation) -> ConstrainedForward:
    found = rows(model, q, v, constraints)
    error = stabilised_gamma(found, v, stabilisation)
    given = np.zeros(model.nv, dtype=bool)
    result = solve(model, q, v, np.zeros(model.nv), tau, given, found.A, error, wrenches)
    return ConstrainedForward(result.a, result.multipliers, result.margin, result.inertia_margin)
