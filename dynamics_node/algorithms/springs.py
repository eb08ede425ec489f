r"""Compute the energy and the torques of springs and dampers.

A spring stores  U = 1/2 k (d - d_0)^2  (Hutter 2017, eq. 3.34), with d(q) the coordinate of a joint
or the length of a line between two links. With a damper beside it, it pulls with

    T = k (d - d_0) + c d',

and the torques that balance it are (dd/dq)' T. Inverse dynamics adds them, as those of friction.
"""

from collections.abc import Callable

import numpy as np

from dynamics_node.algorithms.dual import dual_array, dual_state, slopes_of
from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.line_motion import (
    directed,
    line_motion,
    tension_torque,
    tension_wrenches,
)
from dynamics_node.algorithms.motion_directional_derivative import (
    MotionDerivative,
    motion_derivative,
)
from dynamics_node.algorithms.parameter_direction import ParameterDirection
from dynamics_node.algorithms.tree_recursions import ForwardRecursion, forward_recursion
from dynamics_node.model.configuration import coordinate_places
from dynamics_node.model.force_elements import Spring
from dynamics_node.model.model import Model
from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.select import Number
from dynamics_node.spatial.so3 import skew


def spring_torque(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the torques that balance all springs and dampers, (nv,) [N m or N]."""
    tree = forward_recursion(model, q, v)
    at_joints = _at_joints(model, lambda spring, place, k: _tension(spring, q[place], v[k]))
    return at_joints - tension_torque(model, tree, _pulling(model, tree))


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


def spring_directional_derivative(model: Model, q: np.ndarray, v: np.ndarray,
                                  d: ParameterDirection) -> np.ndarray:
    """Return the derivative of `spring_torque` along a complete ParameterDirection, (nv,).

    The ends of a spring move with q and with the origins and axes of the joints.
    """
    motion = forward_recursion(model, q, v)
    tree = _moving_tree(motion, motion_derivative(model, q, v, motion, d))
    between_links = tension_torque(model, tree, _pulling(model, tree))
    at_joints = _at_joints(model, lambda spring, place, k: (
        spring.stiffness * d.dq[k] + spring.damping * d.dv[k]))
    return at_joints - slopes_of(between_links, 1)[:, 0]


def _moving_tree(motion: ForwardRecursion, rates: MotionDerivative) -> ForwardRecursion:
    """Return poses, subspaces and twists as Duals of one direction; dT_i = T_i h_i (eq. 89)."""
    T = [Pose(dual_array(pose.R, pose.R @ skew(h[:3])), dual_array(pose.p, pose.R @ h[3:]))
         for pose, h in zip(motion.T, rates.h)]
    S, V = ([dual_array(value, rate) for value, rate in zip(values, changes)]
            for values, changes in ((motion.S, rates.dS), (motion.V, rates.dV)))
    return ForwardRecursion(T, S, V, motion.eta)


def _at_joints(model: Model, torque_of: Callable[[Spring, int, int], Number]) -> np.ndarray:
    """Return torque_of(spring, its place in q, its place in v) of all springs at joints, (nv,)."""
    torque, places = [0.0] * model.nv, coordinate_places(model)
    for spring in model.springs:
        if spring.joint:
            place, k = places[spring.joint]
            torque[k] = torque[k] + torque_of(spring, place, k)
    return np.array(torque)


def _pulling(model: Model, tree: ForwardRecursion) -> list:
    """Return (LineMotion, tension) of each spring between links."""
    poses = body_poses(model, tree.T)
    lines = [(directed(spring, line_motion(model, poses, tree.V, spring)), spring)
             for spring in model.springs if spring.frame]
    return [(line, _tension(spring, line.length, line.rate)) for line, spring in lines]


def _tension(spring: Spring, d: Number, rate: Number) -> Number:
    return spring.stiffness * (d - spring.rest) + spring.damping * rate
