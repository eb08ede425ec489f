"""Compute inverse dynamics: the joint torques of a motion (recursive Newton-Euler)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.passive_torque import passive_torque
from dynamics_node.algorithms.tree_recursions import (
    joint_forces,
    joints_at,
    per_body,
    subspace_rate,
)
from dynamics_node.model.model import Model
from dynamics_node.spatial.inertia import Inertia
from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.so3 import cross, skew, unskew


def inverse_dynamics(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                     wrenches: np.ndarray | None = None) -> np.ndarray:
    r"""Return the joint torques for the acceleration a, (nv,) [N m or N].

    tau = M(q) a + C(q, v) v + g(q) + friction(v) + springs(q, v) - sum J' F_ext,   M with armature.

    :param q, v, a: configuration (nq,), velocity and acceleration (nv,).
    :param wrenches: (bodies, 6) external wrench on each body at its origin, in its frame, angular
        part first (see `wrenches.body_wrenches`); None for none.

    Kim 2012, table 2. Walker and Luh's recursion, O(n).
    """
    return (newton_euler(model, q, v, a, wrenches)
            + model.armature * a + passive_torque(model, q, v))


def newton_euler(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                 wrenches: np.ndarray | None = None) -> np.ndarray:
    r"""Return the torques of the links alone: no rotors, no friction, (nv,).

    Table 2 for the classical acceleration of each body's origin, acc = dV_linear/dt + w x V_linear.
    A point r of the body then accelerates by acc + U r with U = [alpha] + [w][w]: no linear
    velocities are needed, which saves operations compared to `tree_recursions.forward_recursion`.
    """
    T, S = joints_at(model, q)
    # Each wrench directly after its body's motion: kernels keep this order. If all motions came
    # first, those of a humanoid's 32 bodies would be spilled to memory (550 ns instead of 380).
    F = [needed_wrench(inertia, motion)
         for inertia, motion in zip(model.inertias, _one_by_one(model, T, S, q, v, a))]
    if wrenches is not None:
        F = [needed - wrench for needed, wrench in zip(F, wrenches)]
    return joint_forces(model, T, S, F)


class BodyMotion(NamedTuple):
    """Angular motion of a body and acceleration of its origin, in its own axes."""

    w: np.ndarray      # angular velocity
    alpha: np.ndarray  # angular acceleration
    U: np.ndarray      # [alpha] + [w][w]
    acc: np.ndarray    # classical acceleration of the origin, minus gravity


def newton_euler_motions(model: Model, T: list[Pose], S: list[np.ndarray], q: np.ndarray,
                         v: np.ndarray, a: np.ndarray) -> list[BodyMotion]:
    """Return the BodyMotion of every body, last entry: the world."""
    return [*_one_by_one(model, T, S, q, v, a), _motion_of_world(model)]


def _one_by_one(model: Model, T: list[Pose], S: list[np.ndarray], q: np.ndarray, v: np.ndarray,
                a: np.ndarray) -> Iterator[BodyMotion]:
    """Yield the BodyMotion of each body, one at a time (see `newton_euler`)."""
    motions = per_body(model, _motion_of_world(model))
    for i, body in enumerate(model.bodies):
        velocity = S[i] @ v[body.v]
        acceleration = S[i] @ a[body.v] + subspace_rate(body, q, v) @ v[body.v]
        motions[i] = _carry(motions[body.parent], T[i], velocity, acceleration)
        yield motions[i]


def _motion_of_world(model: Model) -> BodyMotion:
    """Return the motion of the world: its acceleration -g models gravity."""
    still = np.zeros(3)
    return BodyMotion(still, still, np.zeros((3, 3)), -model.gravity)


def _carry(parent: BodyMotion, T: Pose, velocity: np.ndarray, acceleration: np.ndarray
           ) -> BodyMotion:
    """Return the child's motion: the parent's, in the child's axes, plus the joint's own."""
    turn, slide = velocity[:3], velocity[3:]
    carried = T.R.T @ parent.w
    w = carried + turn
    alpha = T.R.T @ parent.alpha + cross(carried, turn) + acceleration[:3]
    acc = (T.R.T @ (parent.acc + parent.U @ T.p)
           + cross(carried + w, slide) + acceleration[3:])
    return BodyMotion(w, alpha, skew(alpha) + skew(w) @ skew(w), acc)


def needed_wrench(inertia: Inertia, motion: BodyMotion) -> np.ndarray:
    """Return the wrench (moment, force) about the origin for a body's motion (Newton, Euler)."""
    spin = motion.U @ inertia.second_moment
    return np.concatenate([2.0 * unskew(spin) + cross(inertia.moment, motion.acc),
                           inertia.mass * motion.acc + motion.U @ inertia.moment])


def bias_torque(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return C(q, v) v + g(q), the torques at zero acceleration of a frictionless robot, (nv,)."""
    return newton_euler(model, q, v, np.zeros(model.nv))


def gravity_torque(model: Model, q: np.ndarray) -> np.ndarray:
    """Return g(q), the torques that balance gravity, (nv,): the potential energy's gradient."""
    return newton_euler(model, q, np.zeros(model.nv), np.zeros(model.nv))
