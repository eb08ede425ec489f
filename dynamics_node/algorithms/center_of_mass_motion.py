"""Compute position, Jacobian and bias acceleration of the centre of mass."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.energy import total_mass
from dynamics_node.algorithms.inverse_dynamics import needed_wrench, newton_euler_motions
from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.tree_recursions import add_entries, joints_at
from dynamics_node.model.model import Model
from dynamics_node.spatial.so3 import cross


class CenterOfMassMotion(NamedTuple):
    """The centre of mass of all links and payloads, fixed ones included, in world axes."""

    position: np.ndarray           # (3,) [m]
    jacobian: np.ndarray           # (3, nv) velocity = J v
    bias_acceleration: np.ndarray  # (3,) dJ/dt v: acceleration = J a + dJ/dt v [m/s^2]


def center_of_mass_motion(model: Model, q: np.ndarray, v: np.ndarray) -> CenterOfMassMotion:
    r"""Return the CenterOfMassMotion, O(n).

    A joint moves its subtree as one body of mass m_i and centre c_i: with its axis (w, v) at its
    origin p_i in the world, its column is m_i (v + w x (c_i - p_i)) / m. At zero joint acceleration
    the total force on the links, less their weight, is m dJ/dt v (Newton).

    :param q, v: configuration (nq,) and velocity (nv,).
    """
    T, S = joints_at(model, q)
    poses = body_poses(model, T)
    total = total_mass(model)
    mass = [inertia.mass for inertia in model.inertias]
    moment = [pose.R @ inertia.moment + inertia.mass * pose.p
              for inertia, pose in zip(model.inertias, poses)]
    J = [np.zeros(3) for _ in range(model.nv)]
    for i in reversed(range(len(model.bodies))):  # children before their parents
        body, (R, p) = model.bodies[i], poses[i]
        turn, slide = R @ S[i][:3], R @ S[i][3:]
        arm = moment[i] - mass[i] * p
        add_entries(J, body.v, mass[i] * slide.T)
        add_entries(J, body.v, [cross(axis, arm) for axis in turn.T])
        mass[body.parent] = mass[body.parent] + mass[i]
        moment[body.parent] = moment[body.parent] + moment[i]
    motions = newton_euler_motions(model, T, S, q, v, np.zeros(model.nv))
    force = (total - model.inertias[-1].mass) * model.gravity
    for pose, inertia, motion in zip(poses, model.inertias, motions[:-1]):
        force = force + pose.R @ needed_wrench(inertia, motion)[3:]
    return CenterOfMassMotion(moment[-1] / total, np.array(J).reshape(-1, 3).T / total,
                              force / total)
