"""Compute the geometric Jacobian of a frame and its time derivative."""

import numpy as np

from dynamics_node.algorithms.kinematics import path_to
from dynamics_node.algorithms.tree_recursions import (
    add_entries,
    forward_recursion,
    joints_at,
    subspace_rate,
)
from dynamics_node.model.model import Model
from dynamics_node.spatial.se3 import Ad_inv, Pose, ad
from dynamics_node.spatial.so3 import cross


def jacobian(model: Model, q: np.ndarray, frame: str, local: bool = False) -> np.ndarray:
    """Return J with (linear, angular) velocity of the frame's origin = J v, (6, nv).

    :param local: in the frame's own axes; else in the world's axes.
    """
    pose, J = pose_and_jacobian(model, q, frame)
    return J if local else np.concatenate([pose.R @ J[:3], pose.R @ J[3:]])


def pose_and_jacobian(model: Model, q: np.ndarray, frame: str) -> tuple[Pose, np.ndarray]:
    """Return (Pose of the frame in the world, J in the frame's own axes), from one pass."""
    T, S = joints_at(model, q)
    where = model.frame(frame)
    columns = _zeros(model)
    X = where.pose  # of the frame in body i
    for i in reversed(path_to(model, where.body)):
        add_entries(columns, model.bodies[i].v, Ad_inv(X, S[i]).T)
        X = T[i] @ X
    return X, _linear_first(columns)


def jacobian_rate(model: Model, q: np.ndarray, v: np.ndarray, frame: str,
                  local: bool = False) -> np.ndarray:
    r"""Return dJ/dt along v: J a + (dJ/dt) v is the acceleration of the frame's origin, (6, nv).

    With the frame's twist V = (w, u), column by column in the frame's axes,
    d/dt (Ad_{X^-1} S) = Ad_{X^-1}(dS/dt + ad_{V_i} S) - ad_V Ad_{X^-1} S;
    in world axes w x (angular part) and w x (linear part) are added.
    """
    T, S, V, _ = forward_recursion(model, q, v)
    where = model.frame(frame)
    twist = Ad_inv(where.pose, V[where.body])
    columns = _zeros(model)
    X = where.pose
    for i in reversed(path_to(model, where.body)):
        body = model.bodies[i]
        J = Ad_inv(X, S[i])
        rate = Ad_inv(X, subspace_rate(body, q, v) + ad(V[i], S[i])) - ad(twist, J)
        if not local:
            w = twist[:3]
            rate = rate + np.concatenate([cross(w, J[:3]), cross(w, J[3:])])
        add_entries(columns, body.v, rate.T)
        X = T[i] @ X
    rate = _linear_first(columns)
    return rate if local else np.concatenate([X.R @ rate[:3], X.R @ rate[3:]])


def _zeros(model: Model) -> list[np.ndarray]:
    return [np.zeros(6)] * model.nv



def _linear_first(columns: list[np.ndarray]) -> np.ndarray:
    J = np.array(columns).reshape(len(columns), 6).T
    return np.concatenate([J[3:], J[:3]])
