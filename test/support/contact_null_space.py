"""Compute the null space and inertia of contacts, as an oracle (float only: an SVD).

Hutter 2017, section 3.7.2, for constraints of any rank: where rows depend on each other,
the inverse of A M^-1 A' is its pseudo-inverse.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.constrained.row_decomposition import decompose
from dynamics_node.constrained.rows import constraint_matrix, rows


class Support(NamedTuple):
    """The null space and inertia of m constraint rows A of rank r."""

    null_space: np.ndarray  # N_c (nv, nv): A N_c = 0, N_c N_c = N_c
    inertia: np.ndarray     # Lambda_c (m, m), what the supports feel [kg, kg m, kg m^2]
    internal: np.ndarray    # (m, m - r) orthonormal forces that balance each other: A' z = 0
    rank: int               # r
    clearance: float        # smallest singular value of the r over the largest: 1 is best


def support(M, A):
    r"""Return the Support of plain arrays, M (nv, nv) and A (m, nv).

    Lambda_c = (A M^-1 A')^+,   N_c = 1 - M^-1 A' Lambda_c A   (eq. 3.62, 3.67).

    With M = L L' and A L^-T = B the matrix A M^-1 A' = B B' is never formed: its condition number
    is that of B squared. Where M is singular but constrained by A, M + s A' A replaces it and s is
    subtracted again: N_c and Lambda_c are the limits for small masses.
    """
    found = decompose(M, A)
    # B' root = V, the shortest such: root root' is the pseudo-inverse of B B'
    root = np.linalg.lstsq(found.U.T * found.length, np.diag(1.0 / found.s), rcond=None)[0]
    internal = found.internal()
    kept = np.eye(len(root)) - internal @ internal.T
    null_space = np.eye(len(M)) - solve_triangular(
        found.L.T, found.V @ (found.V.T @ found.L.T), lower=False)
    clearance = float(found.s[-1] / found.s[0]) if found.rank else 1.0
    return Support(null_space, root @ root.T - found.added * kept, internal, found.rank,
                   clearance)


def support_of(model, q, constraints):
    """Return the Support of a robot in configuration q (nq,)."""
    return support(mass_matrix(model, q), constraint_matrix(model, q, constraints))


class ConsistentDynamics(NamedTuple):
    """N_c' (M a + h) = N_c' tau: the equation of motion in which no contact force appears.

    h = b + g + friction - J' F_ext. It holds for every a that the contacts allow (eq. 3.64).
    Solved for a (eq. 3.63):  M a = N_c' (tau - h) - reaction.
    """

    null_space: np.ndarray  # N_c (nv, nv)
    M: np.ndarray           # (nv, nv)
    h: np.ndarray           # (nv,) [N m or N]
    reaction: np.ndarray    # A' Lambda_c (dA/dt) v, (nv,), what keeps a moving robot on its feet


def consistent_dynamics(model, q, v, constraints, wrenches=None):
    """Return the ConsistentDynamics of a state.

    :param wrenches: (bodies, 6) as for `inverse_dynamics`.

    Hutter 2017, eq. 3.63 (where J_c u should read (dJ_c/dt) u) and 3.64.
    """
    M = mass_matrix(model, q)
    h = inverse_dynamics(model, q, v, np.zeros(model.nv), wrenches)
    _, A, gamma = rows(model, q, v, constraints)
    held = support(M, A)
    return ConsistentDynamics(held.null_space, M, h, A.T @ (held.inertia @ gamma))
