"""Compute the directional derivative of hybrid dynamics (Kim 2012, table 7)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.hybrid_dynamics import by_blocks
from dynamics_node.algorithms.inertial_parameters import inertia_of
from dynamics_node.algorithms.inverse_dynamics_directional_derivative import (
    inverse_dynamics_directional_derivative,
)
from dynamics_node.algorithms.mass_matrix import mass_matrix, pivot_margin
from dynamics_node.algorithms.motion_directional_derivative import (
    MotionDerivative,
    motion_derivative,
    twist_transform_derivative,
    wrench_transform_derivative,
)
from dynamics_node.algorithms.parameter_direction import ParameterDirection, complete
from dynamics_node.algorithms.passive_torque import (
    passive_directional_derivative,
    passive_torque,
)
from dynamics_node.algorithms.tree_recursions import (
    ForwardRecursion,
    forward_recursion,
    gravity_acceleration,
    per_body,
)
from dynamics_node.model.model import Model
from dynamics_node.spatial import inertia as inertias
from dynamics_node.spatial.inertia import BlockInertia, articulated, outer
from dynamics_node.spatial.se3 import Ad_inv, Ad_inv_dual, ad_dual
from dynamics_node.spatial.so3 import skew
from dynamics_node.spatial.solve import factor, solve_factored


class HybridDirectionalDerivative(NamedTuple):
    """The derivatives of all accelerations and all torques, the given ones included."""

    da: np.ndarray      # (nv,)
    dtau: np.ndarray    # (nv,)
    margin: np.ndarray  # (nv,) positive where M is regular, or a was given


def hybrid_dynamics_directional_derivative(
        model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray,
        given: np.ndarray, direction: ParameterDirection,
        wrenches: np.ndarray | None = None) -> HybridDirectionalDerivative:
    r"""Return da and dtau of d(M a + b) = dtau, given one of them per degree of freedom.

    :param a, tau: (nv,); of a only the given entries are read, of tau only the others.
    :param given: (nv,) plain booleans, True where the acceleration is prescribed.
    :param direction: ParameterDirection; da is read at the given entries, dtau at the others.
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.

    Kim 2012, table 7, O(n), for any mix inside a joint. With mimic joints, which share a
    coordinate, the derivative of eq. 34 is solved by blocks.
    """
    given = np.asarray(given, dtype=bool)
    solve = blocks_derivative if model.has_mimic else articulated_bodies_derivative
    return solve(model, q, v, a, tau, given, direction, wrenches)


def articulated_bodies_derivative(
        model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray,
        given: np.ndarray, direction: ParameterDirection,
        wrenches: np.ndarray | None = None) -> HybridDirectionalDerivative:
    r"""Return the derivative by table 7, next to the lines of table 4 that it differentiates.

    The sums of the table are written with U = \hat I S and D = S' U + armature = Psi^-1.
    Corrections to table 7 as printed: dS_i and S_i multiply \ddot q_i and its derivative, not
    \dot q_i, in d beta_i of the prescribed joints and in d\dot V_i of all; the d B_i of d beta_i is
    d\hat B_i; the dS_i before (\hat I_i eta_i + \hat B_i) is dS_i'; every Ad is that of T^-1.
    """
    d = complete(model, direction)
    motion = forward_recursion(model, q, v)
    rates = motion_derivative(model, q, v, motion, d)
    dpassive = passive_directional_derivative(model, q, v, d)
    drive, ddrive = tau - passive_torque(model, q, v), d.dtau - dpassive
    joints = _backward_pass(model, motion, rates, a, drive, ddrive, given, d, wrenches)
    da, dforce, pivots = _forward_pass(model, motion, rates, given, joints, d)
    dtau = dforce + (d.darmature * a + model.armature * d.da + dpassive)
    return HybridDirectionalDerivative(np.where(given, d.da, da), np.where(given, dtau, d.dtau),
                                       np.where(given, 1.0, pivot_margin(model, pivots)))


class _Joint(NamedTuple):
    """Results of the backward recursion for one body, with their derivatives."""

    I: BlockInertia      # articulated inertia of the body, \hat I_i
    dI: BlockInertia
    B: np.ndarray        # \hat B_i
    dB: np.ndarray
    known: np.ndarray    # eta_i + S_u a_u
    dknown: np.ndarray
    U: np.ndarray        # \hat I_i S_v
    dU: np.ndarray
    D: tuple[np.ndarray, np.ndarray]   # D = S_v' U + armature = Psi_i^-1, as the factors (L, d)
    dD: np.ndarray
    drive: np.ndarray    # tau_v - S_v' (\hat I_i known + \hat B_i)
    ddrive: np.ndarray


def _backward_pass(model: Model, motion: ForwardRecursion, rates: MotionDerivative, a: np.ndarray,
                   drive: np.ndarray, ddrive: np.ndarray, given: np.ndarray, d: ParameterDirection,
                   wrenches: np.ndarray | None) -> list[_Joint]:
    """Run the backward recursion: articulated inertias, biases, and their derivatives."""
    I, dI, B, dB = _single_bodies(model, motion, rates, d, wrenches)
    joints: list = [None] * len(model.bodies)
    for i in reversed(range(len(model.bodies))):
        body, T, h = model.bodies[i], motion.T[i], rates.h[i]
        k, u = body.parent, given[body.v]
        S, S_u, dS, dS_u = (X[:, mask] for X in (motion.S[i], rates.dS[i]) for mask in (~u, u))
        known = motion.eta[i] + S_u @ a[body.v][u]
        dknown = rates.deta[i] + dS_u @ a[body.v][u] + S_u @ d.da[body.v][u]
        push = I[i] @ known + B[i]
        dpush = dI[i] @ known + I[i] @ dknown + dB[i]
        U = I[i] @ S
        dU = dI[i] @ S + I[i] @ dS
        D = factor(S.T @ U + np.diag(model.armature[body.v][~u]))
        dD = S.T @ dU + dS.T @ U + np.diag(d.darmature[body.v][~u])
        force = drive[body.v][~u] - S.T @ push
        dforce = ddrive[body.v][~u] - dS.T @ push - S.T @ dpush
        joints[i] = _Joint(I[i], dI[i], B[i], dB[i], known, dknown, U, dU, D, dD, force, dforce)
        # W = U Psi, dW = dU Psi + U dPsi with dPsi = -Psi dD Psi
        W = solve_factored(*D, U.T).T
        dW = solve_factored(*D, (dU - W @ dD).T).T
        Pi = I[i] - outer(U, W)
        dPi = dI[i] - outer(dU, W) - outer(U, dW)
        beta = push + W @ force
        dbeta = dpush + dW @ force + W @ dforce
        turn = _times_ad(Pi, h)
        I[k] = I[k] + Pi.seen_from(T)
        dI[k] = dI[k] + (dPi - turn - turn.T).seen_from(T)
        B[k] = B[k] + Ad_inv_dual(T, beta)
        dB[k] = dB[k] + wrench_transform_derivative(T, h, beta, dbeta)
    return joints


def _single_bodies(model: Model, motion: ForwardRecursion, rates: MotionDerivative,
                   d: ParameterDirection, wrenches: np.ndarray | None
                   ) -> tuple[list[BlockInertia], list[BlockInertia], list, list]:
    """Return I, dI, B, dB of each body without its subtree; the world's are last."""
    I = [articulated(inertia) for inertia in model.inertias]
    dI = [articulated(inertia_of(rate)) for rate in d.dinertias] + [articulated(inertias.ZERO)]
    B, dB = per_body(model, np.zeros(6)), per_body(model, np.zeros(6))
    for i, rigid in enumerate(model.inertias[:len(model.bodies)]):
        V, dV, drigid = motion.V[i], rates.dV[i], inertia_of(d.dinertias[i])
        B[i] = -ad_dual(V, rigid @ V)
        dB[i] = (-ad_dual(dV, rigid @ V) - ad_dual(V, drigid @ V + rigid @ dV) - d.dwrenches[i])
        if wrenches is not None:
            B[i] = B[i] - wrenches[i]
    return I, dI, B, dB


def _times_ad(Pi: BlockInertia, h: np.ndarray) -> BlockInertia:
    """Return Pi ad_h as blocks."""
    w, v = skew(h[:3]), skew(h[3:])
    return BlockInertia(Pi.A @ w + Pi.B @ v, Pi.B @ w, Pi.C @ w + Pi.D @ v, Pi.D @ w)


def _forward_pass(model: Model, motion: ForwardRecursion, rates: MotionDerivative,
                  given: np.ndarray, joints: Sequence[_Joint], d: ParameterDirection
                  ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run the forward recursion: da where tau is given, S' dF + dS' F where a is, pivots, (nv,)."""
    Vdot = per_body(model, gravity_acceleration(model))
    dVdot = per_body(model, np.concatenate([np.zeros(3), -d.dgravity]))
    da, dforce, pivots = ([0.0] * model.nv for _ in range(3))
    for i, (body, joint) in enumerate(zip(model.bodies, joints)):
        T, k, u = motion.T[i], body.parent, given[body.v]
        S, S_u, dS, dS_u = (X[:, mask] for X in (motion.S[i], rates.dS[i]) for mask in (~u, u))
        carried = Ad_inv(T, Vdot[k])
        dcarried = twist_transform_derivative(T, rates.h[i], Vdot[k], dVdot[k])
        a_v = solve_factored(*joint.D, joint.drive - joint.U.T @ carried)
        # da = dPsi {...} + Psi d{...} = Psi (d{...} - dD a)
        da_v = solve_factored(*joint.D, joint.ddrive - joint.dU.T @ carried
                              - joint.U.T @ dcarried - joint.dD @ a_v)
        Vdot[i] = carried + joint.known + S @ a_v
        dVdot[i] = dcarried + joint.dknown + dS @ a_v + S @ da_v
        F = joint.I @ Vdot[i] + joint.B
        dF = joint.dI @ Vdot[i] + joint.I @ dVdot[i] + joint.dB
        places = np.arange(body.v.start, body.v.stop)
        for place, rate, pivot in zip(places[~u], da_v, joint.D[1]):
            da[place], pivots[place] = rate, pivot
        for place, rate in zip(places[u], dS_u.T @ F + S_u.T @ dF):
            dforce[place] = rate
    return np.array(da), np.array(dforce), np.array(pivots)


def blocks_derivative(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray,
                      given: np.ndarray, direction: ParameterDirection,
                      wrenches: np.ndarray | None = None) -> HybridDirectionalDerivative:
    """Solve M_vv da_v = dtau_v - d(M a + b)_v, where d(.) is taken with da = (da_u, 0).

    Rows and columns are selected by products with 0 and 1, so that `given` may be a symbol.
    """
    d = complete(model, direction)
    u = given * np.ones(model.nv)
    w = 1.0 - u
    motion = by_blocks(model, q, v, a, tau, given, wrenches)
    known = inverse_dynamics_directional_derivative(model, q, v, motion.a, d._replace(da=u * d.da),
                                                    wrenches)
    M = mass_matrix(model, q)
    L, pivots = factor(np.outer(w, w) * M + np.diag(u))
    full = solve_factored(L, pivots, w * (d.dtau - known) + u * d.da)
    dtorque = w * d.dtau + u * (known + M @ (w * full))
    return HybridDirectionalDerivative(full, dtorque, motion.margin)
