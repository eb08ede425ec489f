"""Compute inverses of Jacobians by an SVD: oracles of differential kinematics (Hutter 2017)."""

import numpy as np

from dynamics_node.constrained.row_decomposition import rank_of


def pseudo_inverse(J, damping=0.0):
    r"""Return J^+ (n, m), rank-revealing; with damping J' (J J' + damping^2 1)^-1 (eq. 2.195).

    J^+ w is the shortest v of the least |w - J v|; the damped one has the least
    |w - J v|^2 + damping^2 |v|^2, and is bounded by |w| / (2 damping) also near singularities.
    """
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    r = rank_of(s, np.linalg.norm(J)) if damping == 0.0 else len(s)
    return (Vt[:r].T * (s[:r] / (s[:r] ** 2 + damping ** 2))) @ U[:, :r].T


def weighted_inverse(J, task_weights=None, joint_weights=None, damping=0.0):
    """Return the inverse of least |W_t^1/2 (w - J v)|, and of those of least v' W_j v, (n, m).

    (J' W J)^-1 J' W where J has full column rank (eq. 2.202); here for any rank. Weights (m,) and
    (n,) are positive; with damping it is weighed too.
    """
    task = np.sqrt(np.ones(len(J)) if task_weights is None else task_weights)
    joint = np.sqrt(np.ones(J.shape[1]) if joint_weights is None else joint_weights)
    return pseudo_inverse(task[:, None] * J / joint, damping) * task / joint[:, None]


def null_space(J):
    """Return N = 1 - J^+ J, with J N = 0: velocities N v0 do not disturb the task (eq. 2.199)."""
    return np.eye(J.shape[1]) - pseudo_inverse(J) @ J
