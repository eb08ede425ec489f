r"""Compute the derivatives of the dynamics of a closed mechanism in its independent coordinates.

With v = G u, a = G du/dt + (dG/dt) u (see `closed_dynamics`) the equation of motion is

    G' (ID(q, v, a) - tau) = 0,

ID the inverse dynamics of the tree. A deviation e_k of a coordinate displaces all joints by G e_k.
The loops stay closed, A v = 0 and A a + gamma = 0, so v and a change by S e_k and R e_k:

    S_I = 0,   A_D S_D = -(dA G) v,   R_I = 0,   A_D R_D = -d(A a + gamma)/dq G - dgamma/dv S.

ID - tau = A' lambda at a solution, or A_D' lambda = (ID - tau)_D where tau of the coordinates is
unknown. Because G' A' = 0 always, dG' A' lambda = -G' dA' lambda, and the left side changes by

    G' ((dID/dq - d(A' lambda)/dq) G + dID/dv S + M R)         per deviation of a coordinate,
    G' (dID/dv G + M Q),   Q_I = 0,   A_D Q_D = -dgamma/dv G   per change of its velocity,
    G' M G                                                     per change of du/dt.

Redundant rows are permitted: A_D^+ takes the place of the inverse.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.constrained.closed_dynamics import (
    NO_INERTIA,
    ClosedRates,
    transmission,
    why_not,
)
from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.constrained.hybrid import DEPENDENT
from dynamics_node.constrained.regular_or_fallback import linear_algebra_errors
from dynamics_node.constrained.row_derivatives import row_derivatives
from dynamics_node.errors import DynamicsError, SingularModel
from dynamics_node.model.model import Model
from dynamics_node.spatial.solve import factor, solve_factored, symmetric


class ClosedInverseDerivatives(NamedTuple):
    """Torques of the coordinates, and their derivatives: column k belongs to the variable k."""

    tau: np.ndarray  # G' ID (k,): what the coordinates must apply if other joints apply nothing
    dq: np.ndarray   # (k, k) along unit velocities of the coordinates, all joints following
    dv: np.ndarray   # (k, k)
    da: np.ndarray   # (k, k) the mass matrix of the closed mechanism


class ClosedForwardDerivatives(NamedTuple):
    """Accelerations of the coordinates, and their derivatives."""

    a: np.ndarray     # du/dt (k,)
    dq: np.ndarray    # (k, k) along unit velocities of the coordinates, all joints following
    dv: np.ndarray    # (k, k)
    dtau: np.ndarray  # (k, nv) by the torques of all joints


def closed_inverse_derivatives(
        model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
        constraints: Sequence[Constraint], independent: Sequence[int],
        wrenches: np.ndarray | None = None) -> tuple[ClosedInverseDerivatives, np.ndarray]:
    """Return (ClosedInverseDerivatives, margin); the margin is positive where they are defined.

    :param q: (nq,) closes the loops.
    :param v, a: (nv,) of which the independent entries are read.
    :param wrenches: (bodies, 6) as for `inverse_dynamics`, constant in their bodies' frames.
    """
    rates, margin = transmission(model, q, v, constraints, independent)
    u, u_rate = v[list(independent)], a[list(independent)]
    a = rates.G @ u_rate + rates.G_rate @ u
    torque = inverse_dynamics(model, q, rates.v, a, wrenches)
    slopes = _slopes(model, q, rates, a, torque, constraints, wrenches)
    return ClosedInverseDerivatives(rates.G.T @ torque, *slopes), margin


def closed_forward_derivatives(
        model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
        constraints: Sequence[Constraint], independent: Sequence[int],
        wrenches: np.ndarray | None = None) -> tuple[ClosedForwardDerivatives, np.ndarray]:
    """Return (ClosedForwardDerivatives, margin) under the torques tau (nv,) of all joints.

    The last k entries of the margin are positive where the mechanism has inertia in all
    coordinates. Arguments as in `closed_inverse_derivatives`.
    """
    rates, margin = transmission(model, q, v, constraints, independent)
    G = rates.G
    inertia = symmetric(G.T @ (mass_matrix(model, q) @ G))
    L, d = factor(inertia)
    drift = rates.G_rate @ v[list(independent)]
    u_rate = solve_factored(
        L, d, G.T @ (tau - inverse_dynamics(model, q, rates.v, drift, wrenches)))
    a = G @ u_rate + drift
    torque = inverse_dynamics(model, q, rates.v, a, wrenches)
    dq, dv, _ = _slopes(model, q, rates, a, torque - tau, constraints, wrenches)
    return ClosedForwardDerivatives(
        u_rate, -solve_factored(L, d, dq), -solve_factored(L, d, dv), solve_factored(L, d, G.T),
    ), np.concatenate([margin, d - DEPENDENT * np.diag(inertia)])


def inverse_derivatives_or_error(
        model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
        a: np.ndarray, independent: Sequence[int],
        wrenches: np.ndarray | None = None) -> ClosedInverseDerivatives:
    """Return the ClosedInverseDerivatives.

    :raise DynamicsError: as in `closed_dynamics_or_error`.
    """
    with linear_algebra_errors():
        found, margin = closed_inverse_derivatives(model, q, v, a, constraints, independent,
                                                   wrenches)
        if (margin > 0.0).all():
            return found
        raise DynamicsError(why_not(model, q, constraints, list(independent)))


def forward_derivatives_or_error(
        model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
        tau: np.ndarray, independent: Sequence[int],
        wrenches: np.ndarray | None = None) -> ClosedForwardDerivatives:
    """Return the ClosedForwardDerivatives.

    :raise DynamicsError: as in `closed_dynamics_or_error`, or a coordinate has no inertia.
    """
    with linear_algebra_errors():
        found, margin = closed_forward_derivatives(model, q, v, tau, constraints, independent,
                                                   wrenches)
        if (margin > 0.0).all():
            return found
        if (margin[:-len(found.a)] > 0.0).all():
            raise SingularModel(NO_INERTIA)
        raise DynamicsError(why_not(model, q, constraints, list(independent)))


def _slopes(model: Model, q: np.ndarray, rates: ClosedRates, a: np.ndarray, needed: np.ndarray,
            constraints: Sequence[Constraint],
            wrenches: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the derivatives of G' (ID - tau) by the coordinates, u and du/dt, (k, k) each.

    :param needed: ID - tau (nv,).
    """
    G, v, dependent = rates.G, rates.v, rates.dependent
    count = sum(map(size, constraints))
    inverse = rates.solve(np.eye(count))  # A_D^+
    multipliers = inverse.T @ needed[dependent]
    tree = inverse_dynamics_derivatives(model, q, v, a, wrenches)
    by_row = row_derivatives(model, q, v, a, multipliers, constraints)

    def following(errors: np.ndarray) -> np.ndarray:
        """Return the changes of all joints that cancel errors of the rows, (nv, k)."""
        changes = np.zeros(G.shape, dtype=G.dtype)
        changes[dependent] = -(inverse @ errors)
        return changes
    S = following(np.sum((by_row.matrix_dq @ G) * v[:, None], axis=1))
    R = following(by_row.error_dq @ G + by_row.error_dv @ S)
    Q = following(by_row.error_dv @ G)
    return (G.T @ ((tree.dq - by_row.force_dq) @ G + tree.dv @ S + tree.da @ R),
            G.T @ (tree.dv @ G + tree.da @ Q),
            symmetric(G.T @ (tree.da @ G)))
