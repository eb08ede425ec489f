"""Differentiate the forward recursion along a direction: the first pass of tables 5, 6 and 7.

d(.) is d/dp, component by component in the body's frame. Transforms by T_i are differentiated with
the twist h_i = T_i^-1 dT_i/dp of the body relative to its parent (Kim 2012, eq. 87-89):
d(Ad_{T^-1} X)  = Ad_{T^-1} dX - ad_h Ad_{T^-1} X,
d(Ad*_{T^-1} F) = Ad*_{T^-1} (dF - ad*_h F).

The geometry moves by two twists (angular first) per joint: g of the joint frame in its parent, and
x of the axis in the joint frame. With the placement P and the joint's own pose J(q) and subspace S,
T_i = P exp(g p) exp(x p) J exp(-x p),   S_i = Ad_{exp(x p)} S.
At p = 0: h_i = S_i dq_i + Ad_{J^-1} (g + x) - x,   dS_i/dp = ad_x S_i + (dS_i/dq_i) dq_i.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.parameter_direction import ParameterDirection
from dynamics_node.algorithms.tree_recursions import (
    ForwardRecursion,
    joint_coordinates,
    per_body,
    subspace_rate,
)
from dynamics_node.model.model import Body, Model
from dynamics_node.spatial.se3 import Ad_inv, Ad_inv_dual, Pose, ad, ad_dual


class MotionDerivative(NamedTuple):
    """The derivative of a `tree_recursions.ForwardRecursion`; lists as there."""

    h: list      # (6,): eq. 89; eq. 90 for one coordinate of the joint
    dS: list     # (6, n_i)
    dV: list     # (6,)
    deta: list   # (6,)


def motion_derivative(model: Model, q: np.ndarray, v: np.ndarray, motion: ForwardRecursion,
                      d: ParameterDirection) -> MotionDerivative:
    """Return the MotionDerivative along d, which has all entries: tables 5, 6 and 7."""
    T, S, V, _ = motion
    h, dS, deta = per_body(model), per_body(model), per_body(model)
    dV = per_body(model, np.zeros(6))
    for i, body in enumerate(model.bodies):
        v_i, dv_i = v[body.v], d.dv[body.v]
        x, Sdot = d.daxes[i], subspace_rate(body, q, v)
        h[i] = S[i] @ d.dq[body.v] + _geometry_twist(body, q, d.dorigins[i], x)
        # the formula of dS/dt, with dq/dp for dq/dt
        dS[i] = subspace_rate(body, q, d.dq) + ad(x, S[i])
        dSv = dS[i] @ v_i + S[i] @ dv_i
        dV[i] = twist_transform_derivative(T[i], h[i], V[body.parent], dV[body.parent]) + dSv
        deta[i] = (ad(dV[i], S[i] @ v_i) + ad(V[i], dSv)
                   + (_subspace_rate_derivative(body, q, v, d) + ad(x, Sdot)) @ v_i
                   + Sdot @ dv_i)
    return MotionDerivative(h, dS, dV, deta)


def _geometry_twist(body: Body, q: np.ndarray, g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the part of h_i due to the geometry: Ad_{J^-1} (g + x) - x, (6,)."""
    return Ad_inv(body.joint.pose(joint_coordinates(body, q)), g + x) - x


def _subspace_rate_derivative(body: Body, q: np.ndarray, v: np.ndarray, d: ParameterDirection
                              ) -> np.ndarray:
    """Return d(dS/dt) at constant geometry: linear in v, and dependent on q for planar joints."""
    r = body.ratio
    bend = body.joint.subspace_rate_derivative(
        r * q[body.q] + body.offset, r * v[body.v], r * d.dq[body.v])
    return subspace_rate(body, q, d.dv) + r * bend


def twist_transform_derivative(T: Pose, h: np.ndarray, X: np.ndarray, dX: np.ndarray) -> np.ndarray:
    """Return d(Ad_{T^-1} X) of a twist X in the parent's frame (eq. 87)."""
    return Ad_inv(T, dX) - ad(h, Ad_inv(T, X))


def wrench_transform_derivative(T: Pose, h: np.ndarray, F: np.ndarray,
                                dF: np.ndarray) -> np.ndarray:
    """Return d(Ad*_{T^-1} F) of a wrench F in the child's frame (eq. 88)."""
    return Ad_inv_dual(T, dF - ad_dual(h, F))
