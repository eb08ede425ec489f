"""Compute constrained hybrid dynamics: a, tau and multipliers (Kim 2012, eq. 70-80)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.hybrid_dynamics import backward_pass, forward_pass
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.mass_matrix import mass_matrix, pivot_margin
from dynamics_node.algorithms.passive_torque import passive_torque
from dynamics_node.algorithms.reduced_dynamics import reduced_compliance, reduced_dynamics
from dynamics_node.algorithms.tree_recursions import forward_recursion
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.rows import rows
from dynamics_node.constrained.stabilisation import Stabilisation, stabilised_gamma
from dynamics_node.model.model import Model
from dynamics_node.spatial.solve import factor, first_half, second_half, solve_factored, symmetric

# A row depends on the others where the pivot of its elimination from A M^-1 A' is no larger than
# this share of its diagonal entry: the squared sine of the angle between the row and the span of
# the others. Rounding leaves about 1e-14; 1e-10 is an angle of 1e-5.
DEPENDENT = 1e-10


class ConstrainedHybrid(NamedTuple):
    """All accelerations, all torques and the constraint forces."""

    a: np.ndarray               # (nv,)
    tau: np.ndarray             # (nv,)
    multipliers: np.ndarray     # lambda (m,), on frame 2 from frame 1 in its axes [N, N m]
    margin: np.ndarray          # (m,) positive where the rows are independent of each other
    inertia_margin: np.ndarray  # (nv,) positive where M is regular, or a was given


def constrained_hybrid_dynamics(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                                tau: np.ndarray, given: np.ndarray,
                                constraints: Sequence[Constraint],
                                wrenches: np.ndarray | None = None,
                                stabilisation: Stabilisation = None) -> ConstrainedHybrid:
    r"""Return a, tau, lambda of M a + b = tau + A' lambda, A a + gamma = 0, given a or tau per dof.

    With a given at u and tau at v, and a_r the acceleration without constraints,
    lambda = -(A_v M_vv^-1 A_v')^-1 (A a_r + gamma),
    a_v = a_rv + M_vv^-1 A_v' lambda,   tau_u = tau_ur + M_uv M_vv^-1 A_v' lambda - A_u' lambda.

    :param a, tau: (nv,); of a only the given entries are read, of tau only the others.
    :param given: (nv,) plain booleans, True where the acceleration is prescribed.
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.
    :param stabilisation: (alpha, beta) [1/s] of `stabilisation.stabilised_gamma`, or None.

    Kim 2012, eq. 70-80: one full pass and m + 1 reduced ones, m of them backward only. The rows of
    A_v must be independent, so m <= n_v; for other sets use
    `rank_deficient.rank_deficient_hybrid`.
    """
    given = np.asarray(given, dtype=bool)
    found = rows(model, q, v, constraints)
    error = stabilised_gamma(found, v, stabilisation)
    solve = by_blocks if model.has_mimic else by_articulated_bodies
    return solve(model, q, v, a, tau, given, found.A, error, wrenches)


def by_articulated_bodies(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                          tau: np.ndarray, given: np.ndarray, A: np.ndarray, error: np.ndarray,
                          wrenches: np.ndarray | None = None) -> ConstrainedHybrid:
    """Return the ConstrainedHybrid by O(n) passes, without mimic joints; A (m, nv), error (m,)."""
    motion = forward_recursion(model, q, v)
    passive = passive_torque(model, q, v)
    joints = backward_pass(model, motion, a, tau - passive, given, wrenches)
    free = forward_pass(model, motion, a, tau, passive, given, joints)
    delassus = reduced_compliance(model, motion, joints, given, A.T)
    multipliers, margin = solve_multipliers(delassus, A @ free.a + error)
    force = A.T @ multipliers
    moved = reduced_dynamics(model, motion, joints, given, force[:, None])
    return ConstrainedHybrid(free.a + moved.a[:, 0], free.tau + (moved.tau[:, 0] - force),
                             multipliers, margin, free.margin)


def by_blocks(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray,
              given: np.ndarray, A: np.ndarray, error: np.ndarray,
              wrenches: np.ndarray | None = None) -> ConstrainedHybrid:
    r"""Return the ConstrainedHybrid by the mass matrix; `given` may be a symbol.

    With M_vv = L' D L and L' Y = A_v', L' y = tau_v - b_v - M_vu a_u, the matrix of the multipliers
    is Y' D^-1 Y, the free acceleration enters as Y' D^-1 y, and a_v = L^-1 D^-1 (y + Y lambda): the
    columns of Y need half a solve each.
    """
    u = given * np.ones(model.nv)
    w = 1.0 - u
    known = inverse_dynamics(model, q, v, u * a, wrenches)
    M = mass_matrix(model, q)
    L, d = factor(np.outer(w, w) * M + np.diag(u))
    y = first_half(L, w * (tau - known))
    Y = first_half(L, w[:, None] * A.T)
    scaled = (Y / d[:, None]).T
    multipliers, margin = solve_multipliers(symmetric(scaled @ Y), scaled @ y + A @ (u * a) + error)
    full = u * a + second_half(L, d, y + Y @ multipliers)
    torque = w * tau + u * (known + M @ (w * full) - A.T @ multipliers)
    return ConstrainedHybrid(full, torque, multipliers, margin, u + w * pivot_margin(model, d))


def solve_multipliers(delassus: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (lambda, margin) of A_v M_vv^-1 A_v' lambda = -error, (m,) each.

    :param delassus: A_v M_vv^-1 A_v' (m, m), symmetric.
    """
    L, d = factor(delassus)
    return solve_factored(L, d, -error), d - DEPENDENT * np.diag(delassus)
