"""Run the forward and backward recursions over the tree; add up entries shared by mimic joints.

Notation of Kim 2012: T_i is the pose of body i in its parent lambda(i), S_i its joint's subspace,
V_i its twist, F_i the wrench its joint transmits; all in the frame of body i. Lists have one entry
per body, and a last one for the world, so that X[body.parent] is that of the parent.

Two other forward passes exist because they need fewer operations for their purpose:
`inverse_dynamics.newton_euler_motions` (no linear velocities) and
`constrained.world_kinematics.world_motions` (world axes, shared by all constraints).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dynamics_node.model.model import Body, Model
from dynamics_node.spatial.se3 import Ad_inv, Ad_inv_dual, Pose, ad
from dynamics_node.spatial.select import Number


class ForwardRecursion(NamedTuple):
    """Poses, joint subspaces and twists of the bodies."""

    T: list     # T_i, Pose of body i in its parent
    S: list     # S_i, (6, n_i), of a mimic joint times its ratio
    V: list     # V_i, (6,)
    eta: list   # eta_i = ad_V S v + (dS/dt) v, the velocity-dependent acceleration, (6,)


def joints_at(model: Model, q: np.ndarray) -> tuple[list[Pose], list[np.ndarray]]:
    """Return the lists (T, S): pose in the parent and subspace of every body's joint."""
    T, S = [], []
    for body in model.bodies:
        q_i, S_i = joint_coordinates(body, q), body.joint.subspace
        T.append(body.placement @ body.joint.pose(q_i))
        S.append(S_i(q_i) if body.ratio == 1.0 else body.ratio * S_i(q_i))
    return T, S


def subspace_rate(body: Body, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return dS_i/dt, component by component in the body's frame, (6, n_i)."""
    if body.joint.subspace_is_constant:
        return np.zeros((6, body.joint.nv))
    return body.ratio * body.joint.subspace_rate(joint_coordinates(body, q),
                                                 body.ratio * v[body.v])


def joint_coordinates(body: Body, q: np.ndarray) -> np.ndarray:
    """Return the coordinates of a body's joint; a mimic joint's are those of its master, scaled."""
    q_i = q[body.q]
    return q_i if body.ratio == 1.0 and body.offset == 0.0 else body.ratio * q_i + body.offset


def forward_recursion(model: Model, q: np.ndarray, v: np.ndarray) -> ForwardRecursion:
    """Return the ForwardRecursion of tables 2, 3 and 4."""
    T, S = joints_at(model, q)
    V, eta = per_body(model, np.zeros(6)), per_body(model)
    for i, body in enumerate(model.bodies):
        Sv = S[i] @ v[body.v]
        V[i] = Ad_inv(T[i], V[body.parent]) + Sv
        eta[i] = ad(V[i], Sv) + subspace_rate(body, q, v) @ v[body.v]
    return ForwardRecursion(T, S, V, eta)


def per_body(model: Model, world: object | None = None) -> list:
    """Return a list of one None per body, then the world's entry."""
    return [None] * len(model.bodies) + [world]


def gravity_acceleration(model: Model) -> np.ndarray:
    """Return the twist rate of the world that models gravity: (0, -g), (6,)."""
    return np.concatenate([np.zeros(3), -model.gravity])


def gravity_in_bodies(model: Model, T: list[Pose]) -> list[np.ndarray]:
    """Return the gravity vector in the axes of each body, last entry: the world, (3,) each."""
    g = per_body(model, model.gravity)
    for i, body in enumerate(model.bodies):
        g[i] = T[i].R.T @ g[body.parent]
    return g


def joint_forces(model: Model, T: list[Pose], S: list[np.ndarray],
                 F: list[np.ndarray]) -> np.ndarray:
    """Return tau by the backward recursion of table 2, from the wrench F (6,) of each body alone.

    F_i <- F_i + sum over children of Ad*_{T^-1} F_k,   tau_i = S_i' F_i.
    """
    F = [*F[:len(model.bodies)], np.zeros(6)]
    tau = [0.0] * model.nv
    for i in reversed(range(len(model.bodies))):
        body = model.bodies[i]
        F[body.parent] = F[body.parent] + Ad_inv_dual(T[i], F[i])
        add_entries(tau, body.v, (S[i].T @ F[i]).tolist())
    return np.array(tau)


def add_entries(entries: list, where: slice, values: Iterable[Number]) -> None:
    """Add values to some entries of a list: mimic joints share the entry of their coordinate."""
    for k, value in enumerate(values, where.start):
        entries[k] = entries[k] + value


def add_block(matrix: list, rows: slice, columns: slice, block: np.ndarray) -> None:
    """Add a block to a matrix of nested lists: mimic joints share rows and columns."""
    for r, row in enumerate(block.tolist(), rows.start):
        add_entries(matrix[r], columns, row)


def square(rows: list) -> np.ndarray:
    """Return nested lists as a square array, (0, 0) for an empty list."""
    return np.array(rows).reshape(len(rows), len(rows))
