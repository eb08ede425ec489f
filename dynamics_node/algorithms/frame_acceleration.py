"""Compute the acceleration of a frame."""

import numpy as np

from dynamics_node.algorithms.inverse_dynamics import newton_euler_motions
from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.tree_recursions import joints_at
from dynamics_node.model.model import Model


def frame_acceleration(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, frame: str,
                       local: bool = False) -> np.ndarray:
    r"""Return J a + (dJ/dt) v, the (linear, angular) acceleration of the frame's origin, (6,).

    With r the frame's origin in its body, the body's own origin accelerating by acc:
    acc + alpha x r + w x (w x r). Gravity is not included.

    :param local: the same vectors in the frame's own axes; else in the world's axes.

    Hutter 2017, eq. 2.122 and 3.80.
    """
    where = model.frame(frame)
    T, S = joints_at(model, q)
    weightless = model.with_(gravity=np.zeros(3))
    motion = newton_euler_motions(weightless, T, S, q, v, a)[where.body]
    linear = motion.acc + motion.U @ where.pose.p
    R = where.pose.R.T if local else body_poses(model, T)[where.body].R
    return np.concatenate([R @ linear, R @ motion.alpha])
