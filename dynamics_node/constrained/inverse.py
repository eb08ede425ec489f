"""Compute constrained inverse dynamics for rows of any rank (Kim 2012, eq. 56-66; float only)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node import linalg
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.constrained.constraint import Constraint, row_names
from dynamics_node.constrained.rank_deficient import CONSISTENT
from dynamics_node.constrained.redundancy_resolution import (
    RedundancyWeights,
    redundancy,
    resolve_redundancy,
)
from dynamics_node.constrained.row_decomposition import decompose, null_space
from dynamics_node.constrained.rows import ConstraintRows, rows
from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Model


class ConstrainedInverse(NamedTuple):
    """Torques of a motion and the constraint forces."""

    tau: np.ndarray          # (nv,) the passive ones as given
    multipliers: np.ndarray  # lambda (m,), on frame 2 from frame 1 in its axes [N, N m]
    redundancy: int          # dimension of the active torques that leave the motion unchanged


def constrained_inverse_dynamics(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                                 constraints: Sequence[Constraint], active: np.ndarray,
                                 passive_torques: np.ndarray | None = None,
                                 choice: str = 'least_force',
                                 torque_weights: np.ndarray | None = None,
                                 force_weights: np.ndarray | None = None,
                                 wrenches: np.ndarray | None = None,
                                 tolerance: float = CONSISTENT) -> ConstrainedInverse:
    r"""Return the ConstrainedInverse of the motion (q, v, a) with M a + b = tau + A' lambda.

    Subscripts a and p are the entries of active and of passive joints. With tau_r = M a + b,
    A_p' lambda = tau_pr - tau_p,   tau_a = tau_ar - A_a' lambda.
    If several lambda solve the former, `choice` selects the one of least cost (see
    `redundancy_resolution.RedundancyWeights`): 'least_force', 'least_torque', 'weighted', or
    'unique' to raise an error.

    :param q, v, a: configuration (nq,), velocity and acceleration (nv,) that satisfy the
        constraints.
    :param active: (nv,) booleans, True where actuated.
    :param passive_torques: (nv,) of which the passive entries are read; None for zero.
    :param torque_weights, force_weights: (n_a,) and (m,); None for ones.
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.
    :param tolerance: by which the motion may violate the constraints [m, m/s, m/s^2, or rad],
        relative to the terms that should cancel where these are larger than 1.

    Kim 2012, eq. 56-66, here for rows of any rank.

    :raise DynamicsError: the motion violates the constraints, or the robot is under-actuated:
        rank(A_p) < n_p; or `choice` is 'unique' and the torques are not.
    """
    return torques_of_motion(model, rows(model, q, v, constraints),
                             inverse_dynamics(model, q, v, a, wrenches), mass_matrix(model, q),
                             v, a, constraints, active, passive_torques, choice, torque_weights,
                             force_weights, tolerance)


def torques_of_motion(model: Model, found: ConstraintRows, needed: np.ndarray, M: np.ndarray,
                      v: np.ndarray, a: np.ndarray, constraints: Sequence[Constraint],
                      active: np.ndarray, passive_torques: np.ndarray | None = None,
                      choice: str = 'least_force', torque_weights: np.ndarray | None = None,
                      force_weights: np.ndarray | None = None,
                      tolerance: float = CONSISTENT) -> ConstrainedInverse:
    """Return the ConstrainedInverse from the terms of the equation of motion.

    :param found: the ConstraintRows of the constraints at (q, v).
    :param needed: tau_r = M a + b (nv,), the torques without constraints.
    :param M: mass matrix (nv, nv).

    The others are those of `constrained_inverse_dynamics`.
    """
    active = np.asarray(active, dtype=bool)
    _refuse_broken(found, v, a, constraints, tolerance)
    given = np.zeros(model.nv) if passive_torques is None else np.asarray(passive_torques)
    passive = ~active
    A_a, A_p = found.A[:, active], found.A[:, passive]
    decomposition = decompose(M[np.ix_(passive, passive)], A_p)
    if decomposition.rank < A_p.shape[1]:
        raise DynamicsError(_underactuated(model, A_p, passive, decomposition.rank))
    x = linalg.solve_triangular(decomposition.L, (needed - given)[passive], lower=True)
    particular, internal = decomposition.multipliers(x), decomposition.internal()
    weights = RedundancyWeights(choice, int(active.sum()), len(found.A), torque_weights,
                                force_weights)
    spare = redundancy(A_a, internal)
    if weights.unique and spare:
        raise DynamicsError(
            f'the torques are not unique: {spare} direction(s) of them leave the motion '
            'unchanged; expected choice least_force, least_torque or weighted')
    multipliers = resolve_redundancy(weights, A_a, needed[active], particular, internal)
    tau = np.where(active, needed - found.A.T @ multipliers, given)
    return ConstrainedInverse(tau, multipliers, spare)


def _refuse_broken(found: ConstraintRows, v: np.ndarray, a: np.ndarray,
                   constraints: Sequence[Constraint], tolerance: float) -> None:
    """Raise a DynamicsError for the row that is violated most.

    Of the positions; if all of these are kept of the velocities, then of the accelerations.
    """
    A = np.abs(found.A)
    parts = (('position', found.residual, 0.0 * found.residual, 'project_configuration'),
             ('velocity', found.A @ v, A @ np.abs(v), 'project_velocity'),
             ('acceleration', found.A @ a + found.gamma, A @ np.abs(a) + np.abs(found.gamma),
              'forward or hybrid dynamics'))
    for what, broken, size, remedy in parts:
        excess = np.abs(broken) - tolerance * np.maximum(1.0, size)
        if np.any(excess > 0.0):
            k = int(np.argmax(excess))
            name = row_names(constraints)[k]
            raise DynamicsError(f"the {what} violates constraint row '{name}' by "
                                f'{broken[k]:.3g}; {remedy} finds one that satisfies it')


def _underactuated(model: Model, A_p: np.ndarray, passive: np.ndarray, rank: int) -> str:
    """Return the message: which passive joints can move while all active ones are at rest."""
    names = [joint.name for joint in model.joints
             for _ in range(joint.v.start, joint.v.stop)]
    motions = np.abs(null_space(A_p)).max(axis=1, initial=0.0)
    loose = [names[k] for k, size in zip(np.flatnonzero(passive), motions) if size > 1e-6]
    return (f'under-actuated: rank(A_p) = {rank} of {A_p.shape[1]} passive coordinates, so '
            f"{', '.join(dict.fromkeys(loose))} can move while every active joint is at rest, "
            'and no torques enforce the whole motion; use hybrid dynamics, which prescribes the '
            'motion of the active joints alone')
