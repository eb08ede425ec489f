"""Compute inverse differential kinematics: joint velocities for wanted velocities of frames.

For Jacobians J (m, n) of any rank (float only: an SVD). Equations of Hutter 2017.
"""

from collections.abc import Sequence

import numpy as np

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.rows import constraint_matrix
from dynamics_node.model.model import Model
from dynamics_node.task_space.hierarchy import hierarchical_least_squares
from dynamics_node.task_space.motion import TaskRows


def joint_velocities(levels: Sequence[Sequence[TaskRows]], n: int,
                     joint_weights: np.ndarray | None = None, preferred: np.ndarray | None = None,
                     damping: float = 0.0) -> np.ndarray:
    r"""Return v (n,): the least-squares solution of each level among those of the levels before.

    Levels are solved in order by eq. 2.207; tasks of one level are weighted (eq. 2.201-2.202). The
    remaining freedom minimises the distance to `preferred`, zero if None (eq. 2.197).

    :param levels: sequence of lists of (J (m, n), w (m,), weights (m,)), highest priority first.
    :param joint_weights: (n,) positive; a joint of greater weight moves less.
    :param damping: see eq. 2.195, in every level; the freedom that a level loses by damping is not
        given to lower levels.
    """
    scale = np.ones(n) if joint_weights is None else 1.0 / np.sqrt(joint_weights)
    tasks = [_stacked(level, scale) for level in levels]
    if preferred is not None:
        tasks.append((np.eye(n), preferred / scale))
    return scale * hierarchical_least_squares(tasks, damping) if tasks else np.zeros(n)


def _stacked(level: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], scale: np.ndarray
             ) -> tuple[np.ndarray, np.ndarray]:
    """Return (A, b) of the weighted tasks of one level, for v / scale."""
    root = np.sqrt(np.concatenate([weights for _, _, weights in level]))
    A = np.concatenate([J for J, _, _ in level]) * root[:, None] * scale
    return A, np.concatenate([w for _, w, _ in level]) * root


def contact_level(model: Model, q: np.ndarray, constraints: Sequence[Constraint]) -> list[TaskRows]:
    r"""Return the level of the constraints, A v = 0, which comes before all others.

    v = N_c (J N_c)^+ w   (eq. 2.258-2.261; the plus between two factors of the last is an error).
    """
    A = constraint_matrix(model, q, constraints)
    return [(A, np.zeros(len(A)), np.ones(len(A)))]
