"""Convert rates of joint origins and axes, as a URDF gives them, to twists of a ParameterDirection.

A rate is a displacement (x, y, z, rx, ry, rz) per unit of a scalar p: translation and rotation
vector. Rates transform by rotations only: both parts are those of the joint frame's origin.
"""

from collections.abc import Callable, Mapping

import numpy as np

from dynamics_node.errors import UnknownName
from dynamics_node.model.model import Body, Model


def joint_body(model: Model, joint: str) -> int:
    """Return the index of the body that a joint moves; the joint may be a mimic joint."""
    names = [body.joint_name for body in model.bodies]
    if not isinstance(joint, str) or joint not in names:
        raise UnknownName('joint', joint, names)
    return names.index(joint)


def origin_twists(model: Model, rates: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the twist of each joint frame in its parent, in its own axes, (.., bodies, 6).

    :param rates: {joint: (.., 6)} of the joint's <origin>, in the axes of the parent link.
    """
    return _twists(model, rates, lambda body: _rotation_in_parent_link(model, body))


def axis_twists(model: Model, rates: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the twist of each joint's axis in its joint frame, (.., bodies, 6).

    :param rates: {joint: (.., 6)} of the joint's <axis>, in the axes of the joint frame.
    """
    return _twists(model, rates, lambda body: np.eye(3))


def _twists(model: Model, rates: Mapping[str, np.ndarray], axes_of: Callable[[Body], np.ndarray]
            ) -> np.ndarray:
    """Return the rates as twists, angular first, in axes with the rotation axes_of(body)."""
    batch = np.broadcast_shapes(*(rate.shape[:-1] for rate in rates.values()))
    twists = np.zeros((*batch, len(model.bodies), 6))
    for joint, rate in rates.items():
        i = joint_body(model, joint)
        R = axes_of(model.bodies[i])
        twists[..., i, :] = np.concatenate([rate[..., 3:] @ R, rate[..., :3] @ R], axis=-1)
    return twists


def _rotation_in_parent_link(model: Model, body: Body) -> np.ndarray:
    """Return the rotation of a body's joint frame in the joint's parent link, (3, 3)."""
    parent = model.parents.get(body.name)  # none: the floating base, in the world
    R = body.placement.R
    return R if parent is None else model.frames[parent].pose.R.T @ R
