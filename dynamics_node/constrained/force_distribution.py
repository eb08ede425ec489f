"""Distribute the forces of a floating-base motion over joints and contacts (float only: ranks)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.redundancy_resolution import RedundancyWeights, resolve_redundancy
from dynamics_node.constrained.row_decomposition import rank_of
from dynamics_node.constrained.rows import rows
from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Model

# A missing generalised force below this share of the largest needed one is rounding.
ROUNDING = 1e-8


class Distribution(NamedTuple):
    """A solution of tau + A' force + unsupported = M a + h."""

    tau: np.ndarray          # (nv,) zero where not actuated [N m or N]
    force: np.ndarray        # (m,) on the robot, in frame 1's axes [N, N m]
    unsupported: np.ndarray  # (nv,) missing generalised force of joints that are not actuated
    supported: bool          # whether `unsupported` is rounding
    slip: np.ndarray         # (m,) A a + gamma: not zero if a violates the contacts
    rank: int                # of the contacts' columns of the joints that are not actuated
    choices: int             # dimension of the internal forces that `choice` determines


def floating_base_torques(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                          constraints: Sequence[Constraint], actuated: np.ndarray | None = None,
                          choice: str = 'least_torque', preferred: np.ndarray | None = None,
                          torque_weights: np.ndarray | None = None,
                          force_weights: np.ndarray | None = None,
                          wrenches: np.ndarray | None = None) -> Distribution:
    r"""Return the Distribution for the acceleration a, which must satisfy the contacts.

    The contacts alone support the joints that are not actuated; the others need

    tau = (M a + h - A' force)_actuated.

    The remaining freedom of the contact forces minimises, by `choice`,

    'least_torque':  |tau - preferred|_W, eq. 3.99 and 3.100; the least force among equals,
    'least_force':   |force|_W,
    'weighted':      |tau - preferred|_W^2 + |force|_W^2,    |x|_W^2 = sum of weight x^2;
    'unique' raises an error if there is freedom.

    :param actuated: (nv,) booleans, True where actuated; None for all but floating joints.
    :param preferred: tau_0 (nv,); zero by default. Its part that would move the robot is ignored.
    :param torque_weights: one per actuated entry of v, in their order; ones by default.
    :param force_weights: (m,); ones by default.
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.

    Hutter 2017, eq. 3.99 (where M u should read M du/dt) and 3.100. `supported` is False where the
    contacts cannot support the motion: two point feet, for example, cannot turn the base about the
    line through them (section 2.10.5).
    """
    _, A, gamma = rows(model, q, v, constraints)
    need = inverse_dynamics(model, q, v, a, wrenches)
    driven = actuated_dofs(model) if actuated is None else np.asarray(actuated, dtype=bool)
    weights = RedundancyWeights(choice, int(driven.sum()), len(A), torque_weights, force_weights)
    excess = need if preferred is None else need - preferred
    force, internal = supporting_forces(A[:, ~driven], need[~driven])
    if weights.unique and internal.shape[1]:
        raise DynamicsError(f"choice 'unique': {internal.shape[1]} internal forces are free; "
                            'choose least_torque, least_force or weighted')
    force = resolve_redundancy(weights, A[:, driven], excess[driven], force, internal)
    rest = need - A.T @ force
    unsupported = np.where(driven, 0.0, rest)
    size = np.abs(need).max(initial=0.0)
    return Distribution(np.where(driven, rest, 0.0), force, unsupported,
                        bool(np.abs(unsupported).max(initial=0.0) <= ROUNDING * size),
                        A @ a + gamma, len(A) - internal.shape[1], internal.shape[1])


def supporting_forces(A: np.ndarray, need: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (x, Z): the least x (m,) with A' x = need, and an orthonormal basis of A' z = 0.

    If there is none, x is the least-squares solution.
    """
    U, s, Vt = np.linalg.svd(A.T)
    r = rank_of(s)
    return Vt[:r].T @ (U[:, :r].T @ need / s[:r]), Vt[r:].T
