"""Compute the response to torques alone: accelerations at rest, without gravity.

Kim 2012, eq. 67 and 76, needs this pass once per constraint. It reuses the articulated inertias of
the full pass, which do not depend on the torques.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.hybrid_dynamics import Articulated
from dynamics_node.algorithms.tree_recursions import ForwardRecursion, per_body
from dynamics_node.model.model import Model
from dynamics_node.spatial.se3 import Ad_inv, Ad_inv_dual
from dynamics_node.spatial.solve import first_half, second_half, symmetric


class ReducedDynamics(NamedTuple):
    """The response to k sets of torques."""

    a: np.ndarray    # (nv, k) zero where the acceleration is prescribed
    tau: np.ndarray  # (nv, k) torques that keep prescribed joints at rest; others as given


def reduced_dynamics(model: Model, motion: ForwardRecursion, joints: list[Articulated],
                     given: np.ndarray, torques: np.ndarray) -> ReducedDynamics:
    r"""Return a_v and tau_u of M (0, a_v) = (tau_u, tau_v): u at rest, tau_v given.

    Table 4 without velocity, gravity, external wrenches and prescribed acceleration:
    beta_i = \hat B_i + U_i Psi_i (tau_i - S_i' \hat B_i),  \hat B_i = sum of Ad*_{T^-1} beta_k.
    With nothing prescribed, a = M^-1 tau.

    :param motion, joints: results of `tree_recursions.forward_recursion` and of
        `hybrid_dynamics.backward_pass`.
    :param given: (nv,) plain booleans, True where the acceleration is prescribed.
    :param torques: (nv, k), read where the acceleration is not prescribed. O(n) for each column.

    Kim 2012, sections 3.2 and 3.3.
    """
    bias, reached = _backward_pass(model, motion, joints, given, torques)
    Vdot = per_body(model, np.zeros((6, torques.shape[1])))
    a, tau = [0.0 * row for row in torques], list(torques)
    for i, (body, joint) in enumerate(zip(model.bodies, joints)):
        u, S = given[body.v], motion.S[i]
        places = np.arange(body.v.start, body.v.stop)
        carried = Ad_inv(motion.T[i], Vdot[body.parent])
        pull = first_half(joint.L, joint.U.T @ carried)
        driven = second_half(joint.L, joint.d, reached[i] - pull)
        Vdot[i] = carried + S[:, ~u] @ driven
        for place, row in zip(places[~u], driven):
            a[place] = row
        reaction = S[:, u].T @ (joint.inertia @ Vdot[i] + bias[i])
        for place, row in zip(places[u], reaction):
            tau[place] = row
    return ReducedDynamics(np.array(a), np.array(tau))


def reduced_compliance(model: Model, motion: ForwardRecursion, joints: list[Articulated],
                       given: np.ndarray, torques: np.ndarray) -> np.ndarray:
    r"""Return tau_v' M_vv^-1 tau_v of k sets of torques, symmetric, (k, k).

    Arguments as in `reduced_dynamics`. Only its backward recursion is needed: the torques
    y_i = L_i'^-1 (tau_i - S_i' \hat B_i) are those of M = L' D L, and the result is
    the sum of y_i' D_i^-1 y_i.
    """
    _, reached = _backward_pass(model, motion, joints, given, torques)
    total = np.zeros((torques.shape[1],) * 2)
    for joint, y in zip(joints, reached):
        total = total + y.T @ (y / joint.d[:, None])
    return symmetric(total)


def _backward_pass(model: Model, motion: ForwardRecursion, joints: Sequence[Articulated],
                   given: np.ndarray, torques: np.ndarray
                   ) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Run the backward recursion: every body's bias (6, k), and y_i of its joint."""
    bias = [np.zeros((6, torques.shape[1]))] * (len(model.bodies) + 1)
    reached: list = [None] * len(model.bodies)
    for i in reversed(range(len(model.bodies))):
        body, joint = model.bodies[i], joints[i]
        driven = ~given[body.v]
        force = torques[body.v][driven] - motion.S[i][:, driven].T @ bias[i]
        reached[i] = first_half(joint.L, force)
        beta = bias[i] + joint.U @ second_half(joint.L, joint.d, reached[i])
        bias[body.parent] = bias[body.parent] + Ad_inv_dual(motion.T[i], beta)
    return bias, reached
