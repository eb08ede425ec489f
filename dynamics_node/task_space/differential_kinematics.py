"""Which joint velocities move frames as they shall? Inverse differential kinematics.

Linear algebra of Jacobians J (m, n) of any rank (float only: an SVD). Equations of Hutter 2017.
"""

import numpy as np

from dynamics_node.constrained.rows import constraint_matrix
from dynamics_node.task_space.hierarchy import hierarchical_least_squares


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
