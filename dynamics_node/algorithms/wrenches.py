"""Convert wrenches at frames to wrenches on bodies, and back."""

from collections.abc import Mapping

import numpy as np

from dynamics_node.model.model import WORLD, Model
from dynamics_node.spatial.se3 import Ad_inv_dual, Pose


def body_wrenches(model: Model, wrenches: Mapping[str, np.ndarray],
                  shape: tuple[int, ...] = (6,)) -> np.ndarray:
    """Return the wrench on each body at its own origin, angular part first, (bodies, 6).

    :param wrenches: {frame: (fx, fy, fz, tx, ty, tz)} on the robot at the frame's origin, in the
        frame's axes [N, N m]. Those on a frame fixed to the world have no effect.
    :param shape: (6,), or (6, N) for N wrenches; the result is then (bodies, 6, N).
    """
    total = [np.zeros(shape) for _ in model.bodies]
    for name, wrench in wrenches.items():
        frame = model.frame(name)
        if frame.body != WORLD:
            angular_first = np.concatenate([wrench[3:], wrench[:3]])
            total[frame.body] = total[frame.body] + Ad_inv_dual(frame.pose, angular_first)
    return np.array(total).reshape(len(model.bodies), *shape)


def wrench_at_frame(wrench: np.ndarray, pose: Pose) -> np.ndarray:
    """Return a wrench on a body at a frame of the body, in the frame's axes, (.., 6).

    :param wrench: (force, torque) at the body's origin, in the body's axes, (.., 6).
    :param pose: pose of the frame in the body.
    """
    force, torque = wrench[..., :3], wrench[..., 3:]
    return np.concatenate([force @ pose.R, (torque - np.cross(pose.p, force)) @ pose.R], axis=-1)
