"""How does a floating base move? From odometry, or from a pose and a twist. Pure.

The state of a floating joint is the pose of its link, and the twist of that link in its own axes,
linear first: what nav_msgs/Odometry says of its child frame.
"""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import WORLD
from dynamics_node.spatial import se3, so3
from dynamics_node.spatial.se3 import Pose


def base_joint(model):
    """Return the floating joint that carries the robot, or None."""
    for body in model.bodies:
        if body.parent == WORLD:
            joint = next(joint for joint in model.joints if joint.q == body.q)
            if joint.kind == 'floating':
                return joint
    return None


def base_configuration(model, position, quaternion, frame=''):
    """Return q of the base joint, (7,): position, quaternion x y z w.

    :param position: of the frame in the world, (3,) [m]; its orientation as quaternion x y z w.
    :param frame: a link fixed to the base; '' is the base link itself.
    """
    norm = np.linalg.norm(quaternion)
    if not (np.isfinite(position).all() and abs(norm - 1.0) < 1e-2):
        raise DynamicsError('the pose of the base must hold finite numbers and a quaternion '
                            'x y z w of norm 1')
    body, fixed = _on_base(model, frame)
    placed = Pose(so3.from_quaternion(quaternion / norm), np.asarray(position, dtype=float))
    T = body.placement.inverse() @ placed @ fixed.inverse()
    return np.concatenate([T.p, so3.to_quaternion(T.R)])


def base_velocity(model, linear, angular, frame=''):
    """Return v of the base joint, (6,): linear, angular in the base link's own axes.

    :param linear: velocity of the frame's origin in the frame's axes, (3,) [m/s], and angular.
    """
    if not (np.isfinite(linear).all() and np.isfinite(angular).all()):
        raise DynamicsError('the twist of the base must hold finite numbers')
    _, fixed = _on_base(model, frame)
    V = se3.Ad(fixed, np.concatenate([angular, linear]))
    return np.concatenate([V[3:], V[:3]])


def _on_base(model, frame):
    """Return the base body, and the pose of the frame on it."""
    joint = base_joint(model)
    index = next(i for i, body in enumerate(model.bodies) if body.q == joint.q)
    body = model.bodies[index]
    if frame in ('', body.name):
        return body, se3.IDENTITY
    known = [name for name, where in model.frames.items() if where.body == index]
    if frame not in known:
        raise DynamicsError(f"frame '{frame}' is not fixed to the base; valid choices are "
                            f"{', '.join(known)}")
    return body, model.frames[frame].pose
