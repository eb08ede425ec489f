"""Which joint velocities move frames as they shall? Inverse differential kinematics.

Linear algebra of Jacobians J (m, n) of any rank (float only: an SVD). Equations of Hutter 2017.
"""

import numpy as np

from dynamics_node.constrained.rows import constraint_matrix
from dynamics_node.constrained.solve import rank_of
from dynamics_node.task_space.hierarchy import hierarchical_least_squares


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


def joint_velocities(levels, n, joint_weights=None, preferred=None, damping=0.0):
    r"""Return v (n,) that does the tasks of each level as well as those above it permit.

    Levels are solved from the first down by eq. 2.207; tasks of one level are weighed against each
    other (eq. 2.201-2.202). What is free then is as near to `preferred` as possible, zero if None
    (eq. 2.197).

    :param levels: sequence of lists of (J (m, n), w (m,), weights (m,)), highest priority first.
    :param joint_weights: (n,) positive; a joint of more weight moves less.
    :param damping: of eq. 2.195, in every level; what a level gives up for it is not left to the
        levels below.
    """
    scale = np.ones(n) if joint_weights is None else 1.0 / np.sqrt(joint_weights)
    tasks = [_stacked(level, scale) for level in levels]
    if preferred is not None:
        tasks.append((np.eye(n), preferred / scale))
    return scale * hierarchical_least_squares(tasks, damping) if tasks else np.zeros(n)


def _stacked(level, scale):
    """Return (A, b) of the tasks of one level, weighed, for v / scale."""
    root = np.sqrt(np.concatenate([weights for _, _, weights in level]))
    A = np.concatenate([J for J, _, _ in level]) * root[:, None] * scale
    return A, np.concatenate([w for _, w, _ in level]) * root


def contact_level(model, q, constraints):
    r"""Return the level that keeps constraints, A v = 0, to be put above all others.

    v = N_c (J N_c)^+ w   (eq. 2.258-2.261; in the last the plus between two factors is a slip of
    the scan): the feet stand still, whatever the tasks ask for.
    """
    A = constraint_matrix(model, q, constraints)
    return [(A, np.zeros(len(A)), np.ones(len(A)))]
