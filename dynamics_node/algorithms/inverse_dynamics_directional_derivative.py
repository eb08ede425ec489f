"""Compute the directional derivative of inverse dynamics (Kim 2012, table 5)."""

import numpy as np

from dynamics_node.algorithms.inertial_parameters import inertia_of
from dynamics_node.algorithms.motion_directional_derivative import (
    MotionDerivative,
    motion_derivative,
    twist_transform_derivative,
    wrench_transform_derivative,
)
from dynamics_node.algorithms.parameter_direction import ParameterDirection, complete
from dynamics_node.algorithms.passive_torque import passive_directional_derivative
from dynamics_node.algorithms.tree_recursions import (
    ForwardRecursion,
    add_entries,
    forward_recursion,
    gravity_acceleration,
    per_body,
)
from dynamics_node.model.model import Model
from dynamics_node.spatial.se3 import Ad_inv, Ad_inv_dual, ad_dual


def inverse_dynamics_directional_derivative(model: Model, q: np.ndarray, v: np.ndarray,
                                            a: np.ndarray, direction: ParameterDirection,
                                            wrenches: np.ndarray | None = None) -> np.ndarray:
    r"""Return d tau/dp of `inverse_dynamics`, (nv,).

    :param q, v, a: configuration (nq,), velocity and acceleration (nv,).
    :param direction: ParameterDirection with dq/dp, dv/dp, da/dp, dF_ext/dp, dI/dp, ... (its dtau
        is not read).
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.

    Kim 2012, table 5, as printed; armature, friction and gravity are added here. O(n).
    """
    d = complete(model, direction)
    links = newton_euler_derivative(model, q, v, a, d, wrenches)
    rotors = d.darmature * a + model.armature * d.da
    return links + rotors + passive_directional_derivative(model, q, v, d)


def newton_euler_derivative(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                            d: ParameterDirection,
                            wrenches: np.ndarray | None = None) -> np.ndarray:
    """Return d/dp of the torques of the links along a complete ParameterDirection, (nv,)."""
    motion = forward_recursion(model, q, v)
    rates = motion_derivative(model, q, v, motion, d)
    Vdot, dVdot = _accelerations(model, motion, rates, a, d)
    F, dF = _needed_wrenches(model, motion, rates, Vdot, dVdot, d)
    if wrenches is not None:
        F = [F_i - wrench for F_i, wrench in zip(F, wrenches)]
    dF = [dF_i - dwrench for dF_i, dwrench in zip(dF, d.dwrenches)]
    return _joint_forces_derivative(model, motion, rates, F, dF)


def _accelerations(model: Model, motion: ForwardRecursion, rates: MotionDerivative, a: np.ndarray,
                   d: ParameterDirection) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Run the forward recursion: dV_i/dt of table 2, and its derivative."""
    T, S, _, eta = motion
    Vdot = per_body(model, gravity_acceleration(model))
    dVdot = per_body(model, np.concatenate([np.zeros(3), -d.dgravity]))
    for i, body in enumerate(model.bodies):
        k = body.parent
        Vdot[i] = Ad_inv(T[i], Vdot[k]) + eta[i] + S[i] @ a[body.v]
        dVdot[i] = (twist_transform_derivative(T[i], rates.h[i], Vdot[k], dVdot[k]) + rates.deta[i]
                    + rates.dS[i] @ a[body.v] + S[i] @ d.da[body.v])
    return Vdot, dVdot


def _needed_wrenches(model: Model, motion: ForwardRecursion, rates: MotionDerivative,
                     Vdot: list[np.ndarray], dVdot: list[np.ndarray], d: ParameterDirection
                     ) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the wrench of each body alone, F = I dV/dt - ad*_V I V, and its derivative."""
    F, dF = [], []
    for i, I in enumerate(model.inertias[:len(model.bodies)]):
        V, dV, dI = motion.V[i], rates.dV[i], inertia_of(d.dinertias[i])
        F.append(I @ Vdot[i] - ad_dual(V, I @ V))
        dF.append(dI @ Vdot[i] + I @ dVdot[i] - ad_dual(dV, I @ V) - ad_dual(V, dI @ V + I @ dV))
    return F, dF


def _joint_forces_derivative(model: Model, motion: ForwardRecursion, rates: MotionDerivative,
                             F: list[np.ndarray], dF: list[np.ndarray]) -> np.ndarray:
    """Run the backward recursion: sum wrenches from the leaves, dtau_i = dS_i' F_i + S_i' dF_i."""
    T, S, *_ = motion
    F, dF = [*F, np.zeros(6)], [*dF, np.zeros(6)]
    dtau = [0.0] * model.nv
    for i in reversed(range(len(model.bodies))):
        body = model.bodies[i]
        dF[body.parent] = dF[body.parent] + wrench_transform_derivative(T[i], rates.h[i], F[i],
                                                                        dF[i])
        F[body.parent] = F[body.parent] + Ad_inv_dual(T[i], F[i])
        add_entries(dtau, body.v, rates.dS[i].T @ F[i] + S[i].T @ dF[i])
    return np.array(dtau)
