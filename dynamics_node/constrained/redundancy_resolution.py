"""Resolve redundancy: select the multipliers of least cost (float only: a least-squares solve)."""

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import check_weights
from dynamics_node.constrained.row_decomposition import least_squares, rank_of
from dynamics_node.errors import DynamicsError

CHOICES = ('least_force', 'least_torque', 'weighted', 'unique')


class RedundancyWeights:
    """Weights w of the cost: sum of w_torque_k tau_k^2 + sum of w_force_k lambda_k^2.

    :param choice: 'least_force' for the least multipliers (ignores `torque`), 'least_torque' for
        the least torques of the active joints (ignores `force`), 'weighted' for both, 'unique' for
        an error if there is redundancy.
    :param torque: (n_a,) of the active joints, at least 0 [1/(N m)^2 or 1/N^2]; None for ones.
    :param force: (m,) of the multipliers, at least 0 [1/N^2 or 1/(N m)^2]; None for ones.
    """

    def __init__(self, choice: str, joints: int, multipliers: int, torque: ArrayLike | None = None,
                 force: ArrayLike | None = None) -> None:
        if choice not in CHOICES:
            raise DynamicsError(f"choice '{choice}' is none of: {', '.join(CHOICES)}")
        self.unique = choice == 'unique'
        self.torque = _weights('torque', torque, joints) * (choice in ('least_torque', 'weighted'))
        self.force = _weights('force', force, multipliers) * (choice != 'least_torque')


def _weights(name: str, weights: ArrayLike | None, n: int) -> np.ndarray:
    weights = check_weights(f'{name}_weights', weights, n)
    return np.ones(n) if weights is None else weights


def redundancy(A_a: np.ndarray, internal: np.ndarray) -> int:
    """Return the dimension of the active torques that leave the motion unchanged."""
    s = np.linalg.svd(A_a.T @ internal, compute_uv=False)
    return rank_of(s, float(np.linalg.norm(A_a)))


def resolve_redundancy(weights: RedundancyWeights, A_a: np.ndarray, needed: np.ndarray,
                       particular: np.ndarray, internal: np.ndarray) -> np.ndarray:
    r"""Return the multipliers of least cost, lambda = particular + N s, (m,).

    Minimise  torque . (needed - A_a' lambda)^2 + force . lambda^2  over s; of several, the s of the
    least norm. With torque weights alone it is Kim 2012, eq. 62-64; with equal force weights alone,
    eq. 59 with s = 0.

    :param A_a: (m, n_a) the active joints' columns of A.
    :param needed: tau_ar (n_a,), the active torques without constraint forces.
    :param particular: (m,) one solution, the shortest.
    :param internal: N (m, k), orthonormal basis of the internal forces.
    """
    root_torque, root_force = np.sqrt(weights.torque), np.sqrt(weights.force)
    matrix = np.vstack([root_torque[:, None] * (A_a.T @ internal), root_force[:, None] * internal])
    goal = np.concatenate([root_torque * (needed - A_a.T @ particular), -root_force * particular])
    scale = float(np.linalg.norm(np.vstack([root_torque[:, None] * A_a.T, np.diag(root_force)])))
    return particular + internal @ least_squares(matrix, goal, scale)
