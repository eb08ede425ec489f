r"""Compute the energy and the torques of springs and dampers.

A spring stores  U = 1/2 k (d - d_0)^2  (Hutter 2017, eq. 3.34), with d(q) the coordinate of a joint
or the length of a line between two links. With a damper beside it, it pulls with

    T = k (d - d_0) + c d',

and the torques that balance it are (dd/dq)' T. Inverse dynamics adds them, as those of friction.
"""

import numpy as np

from dynamics_node.algorithms.dual import (
    configuration_rates,
    dual_state,
    dual_vector,
    slopes_of,
)
from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.line_motion import line_motion, tension_torque, tension_wrenches
from dynamics_node.algorithms.tree_recursions import ForwardRecursion, forward_recursion
from dynamics_node.model.configuration import coordinate_places
from dynamics_node.model.model import Model
from dynamics_node.spatial.select import Number


def spring_torque(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the torques that balance all springs and dampers, (nv,) [N m or N]."""
    torque, places = [0.0] * model.nv, coordinate_places(model)
    for spring in model.springs:
        if spring.joint:
            place, k = places[spring.joint]
            torque[k] = torque[k] + _tension(spring, q[place], v[k])
    tree = forward_recursion(model, q, v)
    return np.array(torque) - tension_torque(model, tree, _pulling(model, tree))


def spring_energy(model: Model, q: np.ndarray) -> Number:
    """Return the energy stored in all springs [J]."""
    places, tree = coordinate_places(model), forward_recursion(model, q, np.zeros(model.nv))
    poses = body_poses(model, tree.T)
    total = 0.0
    for spring in model.springs:
        d = (q[places[spring.joint][0]] if spring.joint
             else line_motion(model, poses, tree.V, spring).length)
        total = total + 0.5 * spring.stiffness * (d - spring.rest) ** 2
    return total


def spring_wrenches(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the wrench of the springs between links on each body, (bodies, 6) angular first."""
    tree = forward_recursion(model, q, v)
    return np.array(tension_wrenches(model, _pulling(model, tree))).reshape(-1, 6)


def spring_slopes(model: Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of `spring_torque` by q, along its tangent, and v, (nv, nv) each."""
    slopes = slopes_of(spring_torque(model, *dual_state(model, q, v)), 2 * model.nv)
    return slopes[:, :model.nv], slopes[:, model.nv:]


def spring_directional_derivative(model: Model, q: np.ndarray, v: np.ndarray, dq: np.ndarray,
                                  dv: np.ndarray) -> np.ndarray:
    """Return the derivative of `spring_torque` along dq, in the tangent of q, and dv, (nv,)."""
    moving = dual_vector(q, (configuration_rates(model, q) @ dq)[:, None])
    return slopes_of(spring_torque(model, moving, dual_vector(v, dv[:, None])), 1)[:, 0]


def _pulling(model: Model, tree: ForwardRecursion) -> list:
    """Return (LineMotion, tension) of each spring between links."""
    poses = body_poses(model, tree.T)
    lines = [(line_motion(model, poses, tree.V, spring), spring)
             for spring in model.springs if spring.frame]
    return [(line, _tension(spring, line.length, line.rate)) for line, spring in lines]


def _tension(spring, d, rate):
    return spring.stiffness * (d - spring.rest) + spring.damping * rate
