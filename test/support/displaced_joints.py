"""Make the model whose joint frames and axes are displaced, to first order.

An axis that is displaced by X while the link's zero pose is constant is the same as: a joint frame
displaced by X, and everything on the link displaced by X^-1 relative to the new body frame.
"""

from dataclasses import replace

import numpy as np

from dynamics_node.spatial import so3
from dynamics_node.spatial.se3 import IDENTITY, Ad_inv_dual, Pose


def displaced(model, wrenches, origins, axes):
    """Return (model, wrenches) after twists of joint frames and axes, (bodies, 6) each.

    The model has other body frames, but the same meaning of q, v and tau. Exact to first order
    only, as complex steps and central differences need it.
    """
    X = [*map(_small, axes), IDENTITY]
    bodies, inertias, forces = [], [], []
    for i, body in enumerate(model.bodies):
        placement = X[body.parent].inverse() @ body.placement @ _small(origins[i]) @ X[i]
        bodies.append(replace(body, placement=placement))
        inertias.append(model.inertias[i].seen_from(X[i].inverse()))
        forces.append(Ad_inv_dual(X[i].inverse(), wrenches[i]))
    return (model.with_(bodies=tuple(bodies), inertias=(*inertias, model.inertias[-1])),
            np.array(forces))


def _small(twist):
    """Return the pose of a twist that is so small that its square does not count."""
    return Pose(np.eye(3) + so3.skew(twist[:3]), twist[3:])
