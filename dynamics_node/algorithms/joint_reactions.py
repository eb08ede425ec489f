"""Compute the wrench that each joint transmits, and the acceleration of each body."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inverse_dynamics import needed_wrench, newton_euler_motions
from dynamics_node.algorithms.springs import spring_wrenches
from dynamics_node.algorithms.tree_recursions import gravity_in_bodies, joints_at
from dynamics_node.model.model import Model
from dynamics_node.spatial.se3 import Ad_inv_dual


class JointReactions(NamedTuple):
    """One row per moving body, in the order of `body_names`, at its origin and in its axes."""

    wrenches: np.ndarray       # (bodies, 6) force, torque of the joint on the body [N, N m]
    accelerations: np.ndarray  # (bodies, 6) linear, angular [m/s^2, rad/s^2]; gravity not included


def joint_reactions(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                    wrenches: np.ndarray | None = None) -> JointReactions:
    r"""Return the JointReactions of a motion, O(n).

    F_i = (wrench for the motion of body i) - F_ext - F_spring + sum over children of Ad*_{T^-1} F_k
    A body at rest is carried: its F points against gravity. S_i' F_i is the joint torque of
    `inverse_dynamics` without rotor inertia, friction and springs of joints, which act inside it.
    The linear acceleration is that of the body's origin as a point, dV_linear/dt + w x V_linear.

    :param q, v, a: configuration (nq,), velocity and acceleration (nv,).
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.

    Kim 2012, table 2.
    """
    T, S = joints_at(model, q)
    motions = newton_euler_motions(model, T, S, q, v, a)[:-1]
    F = [needed_wrench(inertia, motion) for inertia, motion in zip(model.inertias, motions)]
    if wrenches is not None:
        F = [needed - wrench for needed, wrench in zip(F, wrenches)]
    if model.springs:
        F = [needed - wrench for needed, wrench in zip(F, spring_wrenches(model, q, v))]
    F = [*F, np.zeros(6)]
    for i in reversed(range(len(model.bodies))):  # children before their parents
        parent = model.bodies[i].parent
        F[parent] = F[parent] + Ad_inv_dual(T[i], F[i])
    g = gravity_in_bodies(model, T)
    return JointReactions(_rows([*F_i[3:], *F_i[:3]] for F_i in F[:-1]),
                          _rows([*(motion.acc + g_i), *motion.alpha]
                                for motion, g_i in zip(motions, g)))


def _rows(rows: Iterable[list]) -> np.ndarray:
    return np.array(list(rows)).reshape(-1, 6)
