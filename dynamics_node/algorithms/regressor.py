"""Compute the regressors of inverse dynamics, which is linear in its parameters:

tau = Y pi + Y_f (damping, friction) + Y_r armature - sum J' F_ext.

Column j of Y is also d tau/d pi_j.
"""

import numpy as np

from dynamics_node.algorithms.inverse_dynamics import BodyMotion, newton_euler_motions
from dynamics_node.algorithms.tree_recursions import add_block, joints_at
from dynamics_node.model.model import Model
from dynamics_node.spatial.se3 import Ad_inv_dual
from dynamics_node.spatial.so3 import skew


def regressor(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    r"""Return Y with newton_euler(q, v, a) = Y pi, (nv, 10 bodies).

    Ten columns per moving body, in the order of `model.bodies` and `inertial_parameters`:
    Y = sum_i J_i' A_i, where A_i pi_i is the wrench of the motion of body i.

    :param q, v, a: configuration (nq,), velocity and acceleration (nv,).

    Atkeson, An and Hollerbach 1986. O(n depth).
    """
    T, S = joints_at(model, q)
    motions = newton_euler_motions(model, T, S, q, v, a)
    Y = np.zeros((model.nv, 10 * len(model.bodies))).tolist()
    for i, body in enumerate(model.bodies):
        columns = slice(10 * i, 10 * i + 10)
        A = body_regressor(motions[i])
        add_block(Y, body.v, columns, S[i].T @ A)
        k = i
        for j in model.ancestors(i):
            A = Ad_inv_dual(T[k], A)  # the same wrenches, in the frame of the next ancestor
            add_block(Y, model.bodies[j].v, columns, S[j].T @ A)
            k = j
    return np.array(Y).reshape(model.nv, 10 * len(model.bodies))


def body_regressor(motion: BodyMotion) -> np.ndarray:
    r"""Return A with needed_wrench(inertia, motion) = A pi of one rigid body, (6, 10).

    moment = I alpha + w x I w + m c x acc,   force = m acc + U m c,   U = [alpha] + [w][w].
    """
    w, alpha, U, acc = motion
    tensor = times_tensor(alpha) + skew(w) @ times_tensor(w)
    return np.concatenate([np.concatenate([np.zeros((3, 1)), -skew(acc), tensor], axis=1),
                           np.concatenate([acc[:, None], U, np.zeros((3, 6))], axis=1)])


def times_tensor(x: np.ndarray) -> np.ndarray:
    """Return the matrix with I x = [.] (Ixx, Ixy, Iyy, Ixz, Iyz, Izz), (3, 6)."""
    x, y, z = x.tolist()
    return np.array([[x, y, 0.0, z, 0.0, 0.0],
                     [0.0, x, y, 0.0, z, 0.0],
                     [0.0, 0.0, 0.0, x, y, z]])


def friction_regressor(model: Model, v: np.ndarray) -> np.ndarray:
    """Return Y_f with friction_torque = Y_f (damping, friction), (nv, 2 nv)."""
    smooth_sign = v / np.sqrt(v * v + model.friction_speeds ** 2)
    return np.hstack([np.diag(v), np.diag(smooth_sign)])


def armature_regressor(model: Model, a: np.ndarray) -> np.ndarray:
    """Return Y_r with the rotors' torque = Y_r armature, (nv, nv)."""
    return np.diag(a)
