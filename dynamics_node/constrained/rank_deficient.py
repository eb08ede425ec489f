"""Compute constrained dynamics for rank-deficient or contradictory rows (float only: an SVD)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node import linalg
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.redundancy_resolution import (
    RedundancyWeights,
    redundancy,
    resolve_redundancy,
)
from dynamics_node.constrained.row_decomposition import Decomposition, decompose
from dynamics_node.constrained.rows import rows
from dynamics_node.constrained.stabilisation import Stabilisation, stabilised_gamma
from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Model

# Greatest violation of a constraint by a given motion, relative to the terms that should cancel.
CONSISTENT = 1e-6


class RankDeficientMotion(NamedTuple):
    """The solution of M a + b = tau + A' lambda, A a + gamma = 0, or its best approximation."""

    a: np.ndarray            # (nv,) unique where the rows do not contradict each other
    tau: np.ndarray          # (nv,)
    multipliers: np.ndarray  # lambda (m,), of least cost (forward dynamics: of least norm)
    rank: int                # of the columns of A of the joints with given torque
    violation: np.ndarray    # A a + gamma (m,): zero unless the rows contradict each other


def rank_deficient_forward(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                           constraints: Sequence[Constraint], wrenches: np.ndarray | None = None,
                           stabilisation: Stabilisation = None) -> RankDeficientMotion:
    r"""Return the RankDeficientMotion of the torques tau: the motion of least constraint (Gauss).

    With M = L L' and e = A a_r + gamma the acceleration is a_r + L^-T x, x = -(A L^-T)^+ e, and the
    multipliers are the shortest with A' lambda = L x. Rows that contradict each other are satisfied
    in the least-squares sense, at unit length of A L^-T (see `row_decomposition.decompose`).

    Arguments and, for independent rows, result as in `forward.constrained_forward_dynamics`.
    """
    given = np.zeros(model.nv, dtype=bool)
    return _solve(model, q, v, np.zeros(model.nv), tau, given, constraints, wrenches,
                  stabilisation).motion


def rank_deficient_hybrid(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                          tau: np.ndarray, given: np.ndarray, constraints: Sequence[Constraint],
                          wrenches: np.ndarray | None = None,
                          stabilisation: Stabilisation = None, choice: str = 'least_force',
                          torque_weights: np.ndarray | None = None,
                          force_weights: np.ndarray | None = None) -> RankDeficientMotion:
    r"""Return the RankDeficientMotion of prescribed accelerations and torques, for m > n_v too.

    The joints v with given torque move as in `rank_deficient_forward`, with M_vv and A_v.
    Multipliers with A_v' z = 0 change only the torques of the prescribed joints: `choice` selects
    them (see `redundancy_resolution.RedundancyWeights`; torque_weights are those of the prescribed
    joints).

    Kim 2012, section 3.3: eq. 76-80, and eq. 61 for m > n_v.

    :raise DynamicsError: the prescribed accelerations contradict the constraints for every motion
        of the other joints; the message gives the violation.
    """
    given = np.asarray(given, dtype=bool)
    A, target, decomposition, motion = _solve(model, q, v, a, tau, given, constraints, wrenches,
                                              stabilisation)
    size = np.abs(A) @ np.abs(motion.a) + np.abs(target)
    worst = np.abs(motion.violation).max(initial=0.0)
    if np.any(given) and worst > CONSISTENT * size.max(initial=1.0):
        raise DynamicsError(
            'the prescribed accelerations and the constraints contradict each other: whatever the '
            f'other joints do, A a + gamma is off by {worst:.3g}; prescribe fewer than '
            f'{int(given.sum())} joints, or accelerations that satisfy the constraints')
    A_u = A[:, given]
    needed = motion.tau[given] + A_u.T @ motion.multipliers
    weights = RedundancyWeights(choice, int(given.sum()), len(A), torque_weights, force_weights)
    internal = decomposition.internal()
    if weights.unique and redundancy(A_u, internal):
        raise DynamicsError('the torques of the prescribed joints are not unique: choose one of '
                            'least_force, least_torque, weighted')
    multipliers = resolve_redundancy(weights, A_u, needed, motion.multipliers, internal)
    torque = motion.tau.copy()
    torque[given] = needed - A_u.T @ multipliers
    return motion._replace(tau=torque, multipliers=multipliers)


class _Solved(NamedTuple):
    """The motion with the shortest multipliers, and the data to select others."""

    A: np.ndarray
    target: np.ndarray            # A a + target = 0
    decomposition: Decomposition  # of the columns of the joints with given torque
    motion: RankDeficientMotion


def _solve(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray,
           given: np.ndarray, constraints: Sequence[Constraint], wrenches: np.ndarray | None,
           stabilisation: Stabilisation) -> _Solved:
    found = rows(model, q, v, constraints)
    A, target = found.A, stabilised_gamma(found, v, stabilisation)
    M = mass_matrix(model, q)
    prescribed = np.where(given, a, 0.0)
    known = inverse_dynamics(model, q, v, prescribed, wrenches)
    driven = ~given
    A_v, M_vv = A[:, driven], M[np.ix_(driven, driven)]
    decomposition = decompose(M_vv, A_v)
    error = target + A @ prescribed
    L = decomposition.L
    drive = tau[driven] - known[driven] - decomposition.added * (A_v.T @ error)
    free = linalg.cho_solve((L, True), drive)
    x = -decomposition.step(A_v @ free + error)
    multipliers = decomposition.multipliers(x)
    full = prescribed.copy()
    full[driven] = free + linalg.solve_triangular(L, x, lower=True, trans=1)
    torque = np.where(given, known + M[:, driven] @ full[driven] - A.T @ multipliers, tau)
    motion = RankDeficientMotion(full, torque, multipliers, decomposition.rank, A @ full + target)
    return _Solved(A, target, decomposition, motion)
