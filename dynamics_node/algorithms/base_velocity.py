"""Convert velocities of floating joints to world axes (float only)."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.tree_recursions import joints_at
from dynamics_node.model.model import Model
from dynamics_node.spatial.so3 import cross


class BaseVelocity(NamedTuple):
    """u = E v, du/dt = E a + bias; E is orthogonal: v = E' u, and forces convert as E tau."""

    matrix: np.ndarray  # E (nv, nv), without unit
    bias: np.ndarray    # (nv,) dE/dt v [m/s^2], zero but for floating joints


def base_velocity(model: Model, q: np.ndarray, v: np.ndarray) -> BaseVelocity:
    """Return the map to u = (v_B in world axes, w in body axes, rates of the joints).

    v has the linear velocity of a floating base in its own axes; du/dt then has
    R (dv_linear/dt + w x v_linear), the acceleration of the base's origin. "World" is the parent
    of the joint, and this holds for every floating joint.

    Hutter 2017, eq. 2.245.
    """
    E, bias = np.eye(model.nv), np.zeros(model.nv)
    for body, pose in zip(model.bodies, joints_at(model, q)[0]):
        if body.v.stop - body.v.start == 6:
            linear = slice(body.v.start, body.v.start + 3)
            E[linear, linear] = pose.R
            bias[linear] = pose.R @ cross(v[body.v][3:], v[linear])
    return BaseVelocity(E, bias)
