"""Compute hybrid dynamics: a where tau is given, and tau where a is given.

By articulated bodies (Kim 2012, table 4) or, with mimic joints, by blocks of the mass matrix.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.mass_matrix import mass_matrix, pivot_margin
from dynamics_node.algorithms.passive_torque import passive_torque
from dynamics_node.algorithms.tree_recursions import (
    ForwardRecursion,
    forward_recursion,
    gravity_acceleration,
    per_body,
)
from dynamics_node.model.model import Model
from dynamics_node.spatial.inertia import BlockInertia, articulated, outer
from dynamics_node.spatial.se3 import Ad_inv, Ad_inv_dual, ad_dual
from dynamics_node.spatial.solve import factor, solve_factored


class HybridSolution(NamedTuple):
    """All accelerations and all torques, the given ones included."""

    a: np.ndarray       # (nv,)
    tau: np.ndarray     # (nv,)
    margin: np.ndarray  # (nv,) positive where M is regular, or a was given


def hybrid_dynamics(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray,
                    given: np.ndarray, wrenches: np.ndarray | None = None) -> HybridSolution:
    r"""Return a and tau of M a + b = tau, given one of them per degree of freedom.

    :param a, tau: (nv,); of a only the given entries are read, of tau only the others.
    :param given: (nv,) plain booleans, True where the acceleration is prescribed.
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.

    Kim 2012, table 4, O(n), extended to joints of which some degrees of freedom are prescribed (u)
    and others not (v): S = [S_u, S_v]. All prescribed is inverse dynamics, none is table 3.
    With mimic joints, which share a coordinate, there is no such recursion over bodies: the mass
    matrix is solved by blocks (eq. 34).
    """
    given = np.asarray(given, dtype=bool)
    solve = by_blocks if model.has_mimic else by_articulated_bodies
    return solve(model, q, v, a, tau, given, wrenches)


def by_articulated_bodies(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                          tau: np.ndarray, given: np.ndarray,
                          wrenches: np.ndarray | None = None) -> HybridSolution:
    """Return the HybridSolution by the recursions of table 4, for models without mimic joints."""
    motion = forward_recursion(model, q, v)
    passive = passive_torque(model, q, v)
    joints = backward_pass(model, motion, a, tau - passive, given, wrenches)
    return forward_pass(model, motion, a, tau, passive, given, joints)


class Articulated(NamedTuple):
    """Results of the backward recursion for one body, which the forward recursion needs."""

    inertia: BlockInertia      # articulated inertia of the body, \hat I_i
    bias: np.ndarray     # \hat B_i
    known: np.ndarray    # eta_i + S_u a_u
    U: np.ndarray        # \hat I_i S_v
    L: np.ndarray        # S_v' \hat I_i S_v + armature = L' diag(d) L
    d: np.ndarray
    drive: np.ndarray    # tau_v - S_v' (\hat I_i known + \hat B_i)


def backward_pass(model: Model, motion: ForwardRecursion, a: np.ndarray, drive: np.ndarray,
                  given: np.ndarray, wrenches: np.ndarray | None) -> list[Articulated]:
    """Run the backward recursion: the articulated inertia and bias of every body."""
    inertia = [articulated(inertia) for inertia in model.inertias]
    bias = per_body(model, np.zeros(6))
    for i, V in enumerate(motion.V[:-1]):
        bias[i] = -ad_dual(V, model.inertias[i] @ V)
        if wrenches is not None:
            bias[i] = bias[i] - wrenches[i]
    joints: list = [None] * len(model.bodies)
    for i in reversed(range(len(model.bodies))):
        body, S = model.bodies[i], motion.S[i]
        u = given[body.v]
        S_v = S[:, ~u]
        known = motion.eta[i] + S[:, u] @ a[body.v][u]
        U = inertia[i] @ S_v
        push = inertia[i] @ known + bias[i]
        force = drive[body.v][~u] - S_v.T @ push
        L, d = factor(S_v.T @ U + np.diag(model.armature[body.v][~u]))
        joints[i] = Articulated(inertia[i], bias[i], known, U, L, d, force)
        # Pi_i = I - U Psi U',  beta_i = B + I known + U Psi force
        Pi = inertia[i] - outer(U, solve_factored(L, d, U.T).T)
        beta = push + U @ solve_factored(L, d, force)
        inertia[body.parent] = inertia[body.parent] + Pi.seen_from(motion.T[i])
        bias[body.parent] = bias[body.parent] + Ad_inv_dual(motion.T[i], beta)
    return joints


def forward_pass(model: Model, motion: ForwardRecursion, a: np.ndarray, tau: np.ndarray,
                 passive: np.ndarray, given: np.ndarray,
                 joints: list[Articulated]) -> HybridSolution:
    """Run the forward recursion: the unknown accelerations and the unknown torques.

    :param passive: torques of friction and springs, (nv,).
    """
    Vdot = per_body(model, gravity_acceleration(model))
    acceleration, torque = [None] * model.nv, [None] * model.nv
    pivots = [1.0] * model.nv
    for i, (body, joint) in enumerate(zip(model.bodies, joints)):
        u, S = given[body.v], motion.S[i]
        carried = Ad_inv(motion.T[i], Vdot[body.parent])
        driven = solve_factored(joint.L, joint.d, joint.drive - joint.U.T @ carried)
        Vdot[i] = carried + joint.known + S[:, ~u] @ driven
        F = joint.inertia @ Vdot[i] + joint.bias
        places = np.arange(body.v.start, body.v.stop)
        for k, value, pivot in zip(places[~u], driven, joint.d):
            acceleration[k], torque[k], pivots[k] = value, tau[k], pivot
        for k, force in zip(places[u], S[:, u].T @ F):
            acceleration[k] = a[k]
            torque[k] = force + model.armature[k] * a[k] + passive[k]
    margin = np.where(given, 1.0, pivot_margin(model, np.array(pivots)))
    return HybridSolution(np.array(acceleration), np.array(torque), margin)


def by_blocks(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray,
              given: np.ndarray, wrenches: np.ndarray | None = None) -> HybridSolution:
    """Return the HybridSolution: solve M_vv a_v = tau_v - b_v - M_vu a_u, then tau_u (eq. 34).

    Rows and columns are selected by products with 0 and 1, not by indices, so that `given` may be a
    symbol: one kernel serves every set of prescribed joints.
    """
    u = given * np.ones(model.nv)
    w = 1.0 - u
    known = inverse_dynamics(model, q, v, u * a, wrenches)
    M = mass_matrix(model, q)
    L, d = factor(np.outer(w, w) * M + np.diag(u))
    full = solve_factored(L, d, w * (tau - known) + u * a)
    torque = w * tau + u * (known + M @ (w * full))
    return HybridSolution(full, torque, u + w * pivot_margin(model, d))
