"""What do forces at named frames do to the bodies?"""

import numpy as np

from dynamics_node.model.model import WORLD
from dynamics_node.spatial.se3 import Ad_inv_dual


def body_wrenches(model, wrenches, shape=(6,)):
    """Return the wrench on each body at its own origin, angular part first, (bodies, 6).

    :param wrenches: {frame: (fx, fy, fz, tx, ty, tz)} on the robot at the frame's origin, in the
        frame's axes [N, N m]. On a frame fixed to the world they move nothing.
    :param shape: (6,), or (6, N) for N wrenches side by side; the answer is (bodies, 6, N) then.
    """
    total = [np.zeros(shape) for _ in model.bodies]
    for name, wrench in wrenches.items():
        frame = model.frame(name)
        if frame.body != WORLD:
            seed_order = np.concatenate([wrench[3:], wrench[:3]])
            total[frame.body] = total[frame.body] + Ad_inv_dual(frame.pose, seed_order)
    return np.array(total).reshape(len(model.bodies), *shape)
