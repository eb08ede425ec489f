"""Which torques make the robot move like this? (recursive Newton-Euler)"""

import numpy as np

from dynamics_node.algorithms.friction import friction_torque
from dynamics_node.algorithms.recursion import (
    gravity_acceleration,
    joint_forces,
    moving,
    per_body,
)
from dynamics_node.spatial.se3 import Ad_inv, ad_dual


def inverse_dynamics(model, q, v, a, wrenches=None):
    r"""Return the joint torques for the acceleration a, (nv,) [N m or N].

    tau = M(q) a + C(q, v) v + g(q) + friction(v) - sum J' F_ext,   M with armature.

    :param q, v, a: configuration (nq,), velocity and acceleration (nv,).
    :param wrenches: (bodies, 6) external wrench on each body at its origin, in its frame, angular
        part first (see `wrenches.body_wrenches`); None for none.

    Kim 2012, table 2. Walker and Luh's recursion, O(n).
    """
    return (newton_euler(model, q, v, a, wrenches)
            + model.armature * a + friction_torque(model, v))


def newton_euler(model, q, v, a, wrenches=None):
    """Return the torques of the links alone: no rotors, no friction. Table 2, line by line."""
    T, S, V, eta = moving(model, q, v)
    Vdot, F = per_body(model, gravity_acceleration(model)), per_body(model)
    for i, body in enumerate(model.bodies):
        inertia = model.inertias[i]
        Vdot[i] = Ad_inv(T[i], Vdot[body.parent]) + eta[i] + S[i] @ a[body.v]
        F[i] = inertia @ Vdot[i] - ad_dual(V[i], inertia @ V[i])
        if wrenches is not None:
            F[i] = F[i] - wrenches[i]
    return joint_forces(model, T, S, F)


def bias_torque(model, q, v):
    """Return C(q, v) v + g(q), the torques at zero acceleration of a frictionless robot, (nv,)."""
    return newton_euler(model, q, v, np.zeros(model.nv))


def gravity_torque(model, q):
    """Return g(q), the torques that hold the robot against gravity, (nv,).

    The gradient of the potential energy.
    """
    return newton_euler(model, q, np.zeros(model.nv), np.zeros(model.nv))
