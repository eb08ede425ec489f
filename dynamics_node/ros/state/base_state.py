"""Compute the state of a floating base from a pose and a twist. Independent of ROS.

The state of a floating joint is the pose of its link, and the twist of that link in its own axes,
linear first, as in nav_msgs/Odometry for the child frame.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Body, Model, base_joint
from dynamics_node.spatial import se3, so3
from dynamics_node.spatial.se3 import Pose


def base_configuration(model: Model, position: np.ndarray, quaternion: np.ndarray,
                       frame: str = '') -> np.ndarray:
    """Return q of the base joint, (7,): position, quaternion x y z w.

    :param position: position of the frame in the world, (3,) [m].
    :param quaternion: orientation of the frame in the world, x y z w.
    :param frame: a link fixed to the base; '' is the base link itself.
    """
    norm = np.linalg.norm(quaternion)
    if not (np.isfinite(position).all() and abs(norm - 1.0) < 1e-2):
        raise DynamicsError(f'the pose of the base is {np.asarray(position).tolist()}, '
                            f'{np.asarray(quaternion).tolist()}; expected finite numbers and a '
                            'quaternion x y z w of norm 1')
    body, fixed = _on_base(model, frame)
    placed = Pose(so3.from_quaternion(quaternion / norm), np.asarray(position, dtype=float))
    T = body.placement.inverse() @ placed @ fixed.inverse()
    return np.concatenate([T.p, so3.to_quaternion(T.R)])


def base_velocity(model: Model, linear: ArrayLike, angular: ArrayLike,
                  frame: str = '') -> np.ndarray:
    """Return v of the base joint, (6,): linear, angular in the base link's own axes.

    :param linear: velocity of the origin of the frame, in its axes, (3,) [m/s].
    :param angular: velocity of the frame, in its axes, (3,) [rad/s].
    """
    if not (np.isfinite(linear).all() and np.isfinite(angular).all()):
        raise DynamicsError(f'the twist of the base is {np.asarray(linear).tolist()}, '
                            f'{np.asarray(angular).tolist()}; expected finite numbers')
    _, fixed = _on_base(model, frame)
    V = se3.Ad(fixed, np.concatenate([angular, linear]))
    return np.concatenate([V[3:], V[:3]])


def _on_base(model: Model, frame: str) -> tuple[Body, Pose]:
    """Return the base body, and the pose of the frame on it."""
    joint = base_joint(model)
    assert joint is not None
    index = next(i for i, body in enumerate(model.bodies) if body.q == joint.q)
    body = model.bodies[index]
    if frame in ('', body.name):
        return body, se3.IDENTITY
    known = [name for name, where in model.frames.items() if where.body == index]
    if frame not in known:
        raise DynamicsError(f"frame '{frame}' is not fixed to the base; valid choices are "
                            f"{', '.join(known)}")
    return body, model.frames[frame].pose
