"""Compute the derivatives of a frame's pose and velocity by q and v."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.jacobian import jacobian
from dynamics_node.algorithms.kinematics import frame_pose, path_to
from dynamics_node.algorithms.tree_recursions import add_entries, forward_recursion
from dynamics_node.model.model import Model
from dynamics_node.model.split_planar import split_planar_joints
from dynamics_node.spatial.se3 import Ad_inv, ad
from dynamics_node.spatial.so3 import cross, skew


class TwistDerivatives(NamedTuple):
    """Derivatives of a frame's velocity (linear, angular) at its origin."""

    dq: np.ndarray  # (6, nv) along the tangent of q, see model/configuration.py
    dv: np.ndarray  # (6, nv) the frame's Jacobian


def frame_pose_derivatives(model: Model, q: np.ndarray, frame: str) -> np.ndarray:
    """Return dT/dq_k of the frame's homogeneous matrix for every k, first index k, (nv, 4, 4).

    A unit velocity of k gives the frame the twist (w, u), column k of its local Jacobian, and
    dT = T [[ [w], u ], [ 0, 0 ]].
    """
    T = frame_pose(model, q, frame)
    twists = jacobian(model, q, frame, local=True).T
    return np.array([T @ _matrix(twist) for twist in twists]).reshape(model.nv, 4, 4)


def _matrix(twist: np.ndarray) -> np.ndarray:
    return np.vstack([np.column_stack([skew(twist[3:]), twist[:3]]), np.zeros(4)])


def frame_twist_derivatives(model: Model, q: np.ndarray, v: np.ndarray, frame: str,
                            local: bool = False) -> TwistDerivatives:
    r"""Return the derivatives of J(q) v, the velocity of the frame's origin, by q and v.

    A small displacement of joint j along s = S_j displaces the frame. In the frame's axes only the
    velocity of the parent of j changes, d(twist)/dq_j = ad_{V_parent} s; in world axes the rotation
    of the frame adds its cross product with both halves of the velocity.

    :param local: in the frame's own axes; else in the world's axes.
    """
    model = split_planar_joints(model)
    T, S, V, _ = forward_recursion(model, q, v)
    where = model.frame(frame)
    columns = [np.zeros(6)] * model.nv
    X = where.pose  # of the frame in body i
    for i in reversed(path_to(model, where.body)):
        body = model.bodies[i]
        seen = Ad_inv(X, ad(Ad_inv(T[i], V[body.parent]), S[i]))
        add_entries(columns, body.v, seen.T)
        X = T[i] @ X
    angular, linear = np.array(columns).reshape(model.nv, 6).T.reshape(2, 3, model.nv)
    if local:
        return TwistDerivatives(np.concatenate([linear, angular]),
                                jacobian(model, q, frame, local=True))
    turn = jacobian(model, q, frame, local=True)[3:]
    w, u = np.split(Ad_inv(where.pose, V[where.body]), 2)
    return TwistDerivatives(
        np.concatenate([X.R @ (linear + cross(turn, u)), X.R @ (angular + cross(turn, w))]),
        jacobian(model, q, frame))
