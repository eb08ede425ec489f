"""Compute the dynamics by decoupled natural orthogonal complements (DeNOC, Saha 1999).

Eq. 20: I a + C v = tau, here for a tree of joints with any number of degrees of freedom. Bodies are
described at their centres of mass, in world axes: t_i = (omega, velocity of C_i). In place of eq.
27-29, C = N' (M dN/dt + dM/dt N) is computed, with N_ij = B_ij p_j for every ancestor j of i.
This path to the dynamics is independent of the recursions of Kim 2012.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.tree_recursions import (
    add_block,
    add_entries,
    forward_recursion,
    joints_at,
    square,
    subspace_rate,
)
from dynamics_node.model.model import Model
from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.so3 import cross, skew


class Denoc(NamedTuple):
    """The matrices of I a + C v = tau + actuation - friction."""

    inertia: np.ndarray   # I, generalised inertia matrix (nv, nv), armature included
    coriolis: np.ndarray  # C, convective inertia matrix (nv, nv); dI/dt - 2C is skew
    tau: np.ndarray       # generalised force of gravity and external wrenches (nv,)


class DenocLink(NamedTuple):
    """A body at its centre of mass, in world axes."""

    p: np.ndarray       # joint-rate propagation (6, n_i), eq. 13
    p_rate: np.ndarray  # dp/dt (6, n_i), eq. 26: Omega p where the joint's axes are fixed
    com: np.ndarray     # (3,)
    com_rate: np.ndarray
    M: np.ndarray       # (6, 6), eq. 2
    M_rate: np.ndarray  # (6, 6), eq. 8
    w: np.ndarray       # external wrench (6,)


def denoc(model: Model, q: np.ndarray, v: np.ndarray, wrenches: np.ndarray | None = None) -> Denoc:
    """Return the matrices I, C and the force tau of eq. 20, by the recursions (23b)-(30).

    :param wrenches: (bodies, 6) as for `inverse_dynamics`.

    C differs from `coriolis_matrix` by sum J_w' (tr(I_c)/2 [omega]) J_w, J_w each body's angular
    Jacobian. The difference does no work and vanishes for planar arms.
    """
    links = links_at(model, q, v, wrenches)
    M, M_rate, H, w = composites(model, links)
    inertia = np.diag(model.armature).tolist()
    coriolis = np.zeros((model.nv, model.nv)).tolist()
    tau = [0.0] * model.nv
    for i, (body, link) in enumerate(zip(model.bodies, links)):
        add_entries(tau, body.v, link.p.T @ w[i])                        # (30)
        own = M[i] @ link.p_rate + (H[i] + M_rate[i]) @ link.p           # (29), i <= j
        add_block(inertia, body.v, body.v, link.p.T @ M[i] @ link.p)     # (24)
        add_block(coriolis, body.v, body.v, link.p.T @ own)
        for j in model.ancestors(i):
            ancestor, above = model.bodies[j], links[j]
            B, B_rate = propagation(link, above)
            block = link.p.T @ M[i] @ B @ above.p                        # (24)
            add_block(inertia, body.v, ancestor.v, block)
            add_block(inertia, ancestor.v, body.v, block.T)
            add_block(coriolis, ancestor.v, body.v, above.p.T @ B.T @ own)
            below = M[i] @ (B_rate @ above.p + B @ above.p_rate) + (H[i] + M_rate[i]) @ above.p
            add_block(coriolis, body.v, ancestor.v, link.p.T @ below)    # (29), otherwise
    return Denoc(square(inertia), square(coriolis), np.array(tau))


def composites(model: Model, links: list[DenocLink]) -> tuple[list, list, list, list]:
    """Return the sums over the subtree of each body: M (23b), dM/dt and H (28), w (30)."""
    M, M_rate, w = ([getattr(link, key) for link in links] for key in ('M', 'M_rate', 'w'))
    H = [np.zeros((6, 6)) for _ in links]
    for i in reversed(range(len(links))):
        parent = model.bodies[i].parent
        if parent >= 0:
            B, B_rate = propagation(links[i], links[parent])
            H[parent] = H[parent] + B.T @ (M[i] @ B_rate + H[i])
            M[parent] = M[parent] + B.T @ M[i] @ B
            M_rate[parent] = M_rate[parent] + M_rate[i]
            w[parent] = w[parent] + B.T @ w[i]
    return M, M_rate, H, w


def propagation(link: DenocLink, above: DenocLink) -> tuple[np.ndarray, np.ndarray]:
    """Return B (13) and dB/dt: they propagate the twist of `above` rigidly to `link`."""
    c, rate = skew(above.com - link.com), skew(above.com_rate - link.com_rate)
    zero = np.zeros((3, 3))
    return (np.block([[np.eye(3), zero], [c, np.eye(3)]]), np.block([[zero, zero], [rate, zero]]))


def links_at(model: Model, q: np.ndarray, v: np.ndarray,
             wrenches: np.ndarray | None = None) -> list[DenocLink]:
    """Return every body at its centre of mass; w is of gravity and external wrenches."""
    T, S = joints_at(model, q)
    V = forward_recursion(model, q, v).V
    links = []
    for i, (body, pose) in enumerate(zip(model.bodies, body_poses(model, T))):
        inertia = model.inertias[i]
        com = Pose(pose.R, inertia.com)  # to the centre of mass, in world axes
        p, S_rate = (_at_com(com, twist) for twist in (S[i], subspace_rate(body, q, v)))
        omega, velocity = np.split(_at_com(com, V[i]), 2)
        Omega = skew(omega)
        tensor = pose.R @ inertia.tensor_about_com() @ pose.R.T
        wrench = np.concatenate([np.zeros(3), inertia.mass * model.gravity])
        if wrenches is not None:
            moment, force = wrenches[i][:3], wrenches[i][3:]
            wrench = wrench + np.concatenate([pose.R @ (moment - cross(inertia.com, force)),
                                              pose.R @ force])
        links.append(DenocLink(
            p, np.concatenate([Omega @ p[:3], Omega @ p[3:]]) + S_rate,
            pose.p + pose.R @ inertia.com, velocity,
            _diagonal(tensor, inertia.mass * np.eye(3)),
            _diagonal(Omega @ tensor, np.zeros((3, 3))), wrench))
    return links


def _at_com(com: Pose, twist: np.ndarray) -> np.ndarray:
    """Return a body's twist at its centre of mass, in world axes."""
    return np.concatenate([com.R @ twist[:3], com.R @ (twist[3:] - cross(com.p, twist[:3]))])


def _diagonal(A: np.ndarray, D: np.ndarray) -> np.ndarray:
    zero = np.zeros((3, 3))
    return np.block([[A, zero], [zero, D]])
