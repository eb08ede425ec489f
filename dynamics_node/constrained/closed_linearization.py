r"""Linearise a closed mechanism in its independent coordinates, for LQR (float only).

A deviation x of the independent coordinates I moves all joints by G x, and changes the velocities
v = G u of all joints by G du + S x, with S_k = (dG along G e_k) u. So the accelerations of the
constrained forward dynamics, a(q, v, tau), change by

    da = (da/dq G + da/dv S) x + da/dv G du + da/dtau dtau,

of which the independent rows are d(du/dt). See `closed_dynamics` for G.
"""

from collections.abc import Sequence

import numpy as np

from dynamics_node.algorithms.linearization import Linear, discretized, velocity_brackets
from dynamics_node.constrained.closed_dynamics import closed_dynamics_or_error, least_squares
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.regular_or_fallback import forward, forward_derivatives
from dynamics_node.constrained.row_derivatives import matrix_rates
from dynamics_node.constrained.rows import constraint_matrix
from dynamics_node.model.model import Model


def closed_linearization(model: Model, constraints: Sequence[Constraint], q: np.ndarray,
                         v: np.ndarray, tau: np.ndarray, independent: Sequence[int],
                         step: float | None = None) -> Linear:
    """Return the Linear of deviations (of the coordinates, of their velocities), (2 k,).

    :param v: (nv,) of which the independent entries are read.
    :param tau: (nv,) of all joints.
    :param independent: entries of v, whole joints, k of them.
    :param step: [s] of discrete time; None is continuous time.
    :raises DynamicsError: as of `closed_dynamics_or_error`, or constraint rows are redundant.
    """
    independent = list(independent)
    u = v[independent]
    G = closed_dynamics_or_error(model, constraints, q, v, independent).transmission
    v = G @ u
    S = _velocity_slopes(model, constraints, q, v, G, independent)
    a = forward(model, constraints, q, v, tau).a
    slopes = forward_derivatives(model, constraints, q, v, tau)
    k = len(u)
    turning = np.tensordot(v, velocity_brackets(model), axes=1)  # of floating joints
    A = np.block([[-turning[np.ix_(independent, independent)], np.eye(k)],
                  [(slopes.dq @ G + slopes.dv @ S)[independent], (slopes.dv @ G)[independent]]])
    B = np.vstack([np.zeros((k, model.nv)), slopes.dtau[independent]])
    linear = Linear(A, B, np.concatenate([u, a[independent]]))
    return linear if step is None else discretized(linear, step)


def _velocity_slopes(model, constraints, q, v, G, independent):
    """Return S, the derivatives of v = G u along the deviations, (nv, k): A_D S_D = -dA v."""
    dependent = [j for j in range(model.nv) if j not in independent]
    solve, _ = least_squares(constraint_matrix(model, q, constraints)[:, dependent])
    changes = np.einsum('mjk,j->mk', matrix_rates(model, q, G, constraints), v)
    S = np.zeros(G.shape)
    S[dependent] = solve(-changes)
    return S
