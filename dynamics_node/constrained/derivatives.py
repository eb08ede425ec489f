"""Compute the derivatives of constrained forward and inverse dynamics, for independent rows.

Both dynamics solve a linear system; their derivatives solve the same system.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.forward import constrained_forward_dynamics
from dynamics_node.constrained.hybrid import DEPENDENT
from dynamics_node.constrained.inverse import constrained_inverse_dynamics
from dynamics_node.constrained.redundancy_resolution import RedundancyWeights
from dynamics_node.constrained.row_decomposition import rank_of
from dynamics_node.constrained.row_derivatives import row_derivatives
from dynamics_node.constrained.rows import constraint_matrix
from dynamics_node.constrained.stabilisation import Stabilisation
from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Model
from dynamics_node.spatial.solve import factor, solve_factored, symmetric


class ForwardDerivativesAndMargin(NamedTuple):
    """Derivatives of (a, lambda) = FD(q, v, tau): column k belongs to the variable k."""

    dq: np.ndarray              # da/dq (nv, nv) along the tangent of q, see model/configuration.py
    dv: np.ndarray              # (nv, nv)
    dtau: np.ndarray            # (nv, nv) symmetric, A dtau = 0
    multipliers_dq: np.ndarray  # (m, nv)
    multipliers_dv: np.ndarray
    multipliers_dtau: np.ndarray
    margin: np.ndarray          # (m,) positive where the rows are independent


def constrained_forward_dynamics_derivatives(
        model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
        constraints: Sequence[Constraint], wrenches: np.ndarray | None = None,
        stabilisation: Stabilisation = None) -> ForwardDerivativesAndMargin:
    r"""Return the derivatives of `forward.constrained_forward_dynamics` by q, v and tau.

    ID(q, v, a) - A' lambda = tau and A a + gamma = 0 hold at every state; differentiated, with
    D = d(ID - A' lambda) and E = d(A a + gamma) at constant a and lambda,
    M da - A' dlambda = dtau - D,   A da = -E.

    :param wrenches: (bodies, 6) as for `inverse_dynamics`, constant in their bodies' frames.

    Runs on symbols, like the dynamics.
    """
    solution = constrained_forward_dynamics(model, q, v, tau, constraints, wrenches, stabilisation)
    a, multipliers = solution.a, solution.multipliers
    free = inverse_dynamics_derivatives(model, q, v, a, wrenches)
    by_row = row_derivatives(model, q, v, a, multipliers, constraints, stabilisation)
    A = constraint_matrix(model, q, constraints)
    L, d = factor(free.da)
    Y = solve_factored(L, d, A.T)
    delassus = symmetric(A @ Y)
    factors = factor(delassus)

    def found(D: np.ndarray, E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (da, dlambda)."""
        moved = solve_factored(L, d, D)
        dmultipliers = solve_factored(*factors, A @ moved - E)
        return Y @ dmultipliers - moved, dmultipliers

    by_q = found(free.dq - by_row.force_dq, by_row.error_dq)
    by_v = found(free.dv, by_row.error_dv)
    by_tau = found(-np.eye(model.nv), np.zeros(A.shape))
    return ForwardDerivativesAndMargin(
        by_q[0], by_v[0], symmetric(by_tau[0]), by_q[1], by_v[1], by_tau[1],
        factors[1] - DEPENDENT * np.diag(delassus))


class ConstrainedInverseDerivatives(NamedTuple):
    """Derivatives of (tau, lambda) = ID(q, v, a); those of passive torques are zero."""

    dq: np.ndarray              # dtau/dq (nv, nv) along the tangent of q
    dv: np.ndarray              # (nv, nv)
    da: np.ndarray              # (nv, nv)
    multipliers_dq: np.ndarray  # (m, nv)
    multipliers_dv: np.ndarray
    multipliers_da: np.ndarray


def constrained_inverse_dynamics_derivatives(
        model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
        constraints: Sequence[Constraint], active: np.ndarray,
        passive_torques: np.ndarray | None = None, choice: str = 'least_force',
        torque_weights: np.ndarray | None = None, force_weights: np.ndarray | None = None,
        wrenches: np.ndarray | None = None) -> ConstrainedInverseDerivatives:
    r"""Return the derivatives of `inverse.constrained_inverse_dynamics` by q, v and a.

    The multipliers are the stationary point of the cost with A_p' lambda = tau_pr - tau_p:
    H lambda + A_p nu = A_a W tau_ar,   H = A_a W A_a' + F,
    W and F the weights of torques and multipliers. Differentiated at constant lambda and nu,
    H dlambda + A_p dnu = dA_a W tau_a + A_a W (dtau_ar - dA_a' lambda) - dA_p nu,
    A_p' dlambda = dtau_pr - dA_p' lambda,   dtau_a = dtau_ar - dA_a' lambda - A_a' dlambda.

    q, v and a vary independently. Along motions that satisfy the constraints the result is the
    derivative of the torques, in other directions that of the formula. Float only.

    :raise DynamicsError: the rows are not of full rank, so the multipliers are not unique.
    """
    active = np.asarray(active, dtype=bool)
    solution = constrained_inverse_dynamics(
        model, q, v, a, constraints, active, passive_torques, choice, torque_weights,
        force_weights, wrenches)
    free = inverse_dynamics_derivatives(model, q, v, a, wrenches)
    multipliers = solution.multipliers
    by_row = row_derivatives(model, q, v, a, multipliers, constraints)
    A = constraint_matrix(model, q, constraints)
    A_a, A_p = A[:, active], A[:, ~active]
    m, passive = A_p.shape
    weights = RedundancyWeights(choice, int(active.sum()), m, torque_weights, force_weights)
    W, F = weights.torque, weights.force

    H = (A_a * W) @ A_a.T + np.diag(F)
    system = np.block([[H, A_p], [A_p.T, np.zeros((passive, passive))]])
    if rank_of(np.linalg.svd(system, compute_uv=False)) < len(system):
        raise DynamicsError('the constraint forces are not unique, so they have no derivatives: '
                            'drop redundant constraints, or use choice weighted or least_force')
    tau_a = solution.tau[active]
    nu = np.linalg.lstsq(A_p, A_a @ (W * tau_a) - F * multipliers, rcond=None)[0]

    def found(torque: np.ndarray, force: np.ndarray | float, matrix: np.ndarray | None
              ) -> tuple[np.ndarray, np.ndarray]:
        """Return (dtau, dlambda) where ID, A' lambda and A change by these, columns (., k)."""
        change = torque - force
        first = A_a @ (W[:, None] * change[active])
        if matrix is not None:
            first = (first + np.einsum('mak,a->mk', matrix[:, active], W * tau_a)
                     - np.einsum('mpk,p->mk', matrix[:, ~active], nu))
        dmultipliers = np.linalg.solve(system, np.vstack([first, change[~active]]))[:m]
        return active[:, None] * (change - A.T @ dmultipliers), dmultipliers

    by_q = found(free.dq, by_row.force_dq, by_row.matrix_dq)
    by_v = found(free.dv, 0.0, None)
    by_a = found(free.da, 0.0, None)
    return ConstrainedInverseDerivatives(by_q[0], by_v[0], by_a[0], by_q[1], by_v[1], by_a[1])
