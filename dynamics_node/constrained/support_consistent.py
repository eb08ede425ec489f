r"""Compute support-consistent dynamics: the motion that contacts and loops leave free.

With the rows J v = 0 of the constraints, eq. 3.62 to 3.64 of Hutter 2017,

    Lambda = (J M^-1 J')^-1,   N = 1 - M^-1 J' Lambda J,
    M a + N' (C v + g) + J' Lambda (dJ/dt v) = N' (tau - friction - springs),
    N' (M a + C v + g) = N' (tau - friction - springs)   for every a that keeps the rows.

Eq. 3.63 is printed with J v, which is zero, in place of dJ/dt v. Where rows contradict each other,
no a keeps them, and the equations do not hold.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inverse_dynamics import bias_torque
from dynamics_node.algorithms.mass_matrix import mass_matrix, pivot_margin
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.hybrid import DEPENDENT
from dynamics_node.constrained.regular_or_fallback import linear_algebra_errors
from dynamics_node.constrained.rows import rows
from dynamics_node.model.model import Model
from dynamics_node.spatial.solve import factor, solve_factored, symmetric


class SupportConsistent(NamedTuple):
    """Support-consistent dynamics; m rows of loops and contacts."""

    inertia: np.ndarray     # Lambda (m, m) [kg, kg m, kg m^2], effective at the supports
    null_space: np.ndarray  # N (nv, nv): J N = 0; N' tau exerts no force on the supports
    bias: np.ndarray        # N' (C v + g) + J' Lambda dJ/dt v (nv,): M a + bias = N' tau, with tau
    #                         less the torques of friction and springs
    jacobian: np.ndarray    # J (m, nv)
    drift: np.ndarray       # dJ/dt v (m,)


def support_consistent(model: Model, constraints: Sequence[Constraint], q: np.ndarray,
                       v: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the fields of SupportConsistent and the margin, positive for independent rows."""
    _, J, drift = rows(model, q, v, constraints)
    L, d = factor(mass_matrix(model, q))
    Y = solve_factored(L, d, J.T)
    delassus = symmetric(J @ Y)
    factors = factor(delassus)
    inertia = symmetric(solve_factored(*factors, np.eye(len(J))))
    margin = np.concatenate([factors[1] - DEPENDENT * np.diag(delassus), pivot_margin(model, d)])
    N = np.eye(model.nv) - Y @ (inertia @ J)
    bias = N.T @ bias_torque(model, q, v) + J.T @ (inertia @ drift)
    return inertia, N, bias, J, drift, margin


def support_consistent_any_rank(model: Model, constraints: Sequence[Constraint], q: np.ndarray,
                                v: np.ndarray) -> SupportConsistent:
    """Return the SupportConsistent for rows of any rank; Lambda is then the pseudo-inverse.

    :raise SingularModel: some motion without inertia is not constrained.
    """
    with np.errstate(all='ignore'):  # dependent rows divide by zero
        *found, margin = support_consistent(model, constraints, q, v)
    if (margin > 0.0).all():
        return SupportConsistent(*found)
    from dynamics_node.constrained.row_decomposition import decompose  # SciPy takes 0.1 s to import

    _, J, drift = rows(model, q, v, constraints)
    with linear_algebra_errors():
        parts = decompose(mass_matrix(model, q), J)
        # With W = J L^-T: Lambda = pinv(W)' pinv(W), and N projects onto the null space of J
        inverse = np.array([parts.multipliers(unit) for unit in np.eye(model.nv)])
        inertia = inverse.T @ inverse
        N = np.eye(model.nv) - np.linalg.solve(parts.L.T, parts.V @ parts.V.T @ parts.L.T)
        bias = N.T @ bias_torque(model, q, v) + J.T @ (inertia @ drift)
    return SupportConsistent(inertia, N, bias, J, drift)
