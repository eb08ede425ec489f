"""Compute the derivatives of inverse dynamics by q, v and a (Singh, Russell and Wensing 2022)."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inverse_dynamics import (
    BodyMotion,
    needed_wrench,
    newton_euler,
    newton_euler_motions,
)
from dynamics_node.algorithms.passive_torque import passive_slopes, passive_torque
from dynamics_node.algorithms.subtree_inertia import (
    ad_angular,
    drifts,
    seen_from_parent,
    subtree_inertia,
)
from dynamics_node.algorithms.tree_recursions import add_block, joints_at, square
from dynamics_node.model.model import Model
from dynamics_node.model.split_planar import split_planar_joints, split_planar_wrenches
from dynamics_node.spatial.se3 import Ad_inv_dual, Pose, ad, ad_dual
from dynamics_node.spatial.so3 import cross
from dynamics_node.spatial.solve import symmetric


class InverseDerivatives(NamedTuple):
    """Derivatives of tau = ID(q, v, a): row i is joint i's torque, column k the variable k."""

    dq: np.ndarray  # (nv, nv) along the tangent of q, see model/configuration.py
    dv: np.ndarray  # (nv, nv)
    da: np.ndarray  # (nv, nv) the mass matrix, armature included


def inverse_dynamics_derivatives(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                                 wrenches: np.ndarray | None = None) -> InverseDerivatives:
    r"""Return the derivatives of `inverse_dynamics` by q, v and a.

    A small displacement of joint j along s = S_j displaces its subtree, with its velocities and
    accelerations, except for the part that comes from the parent, which stays:

    dV = ad_s V + psi',                  psi' = ad_{V_parent} s,
    dA = ad_s A + psi'' - ad_V psi',     psi'' = ad_{A_parent} s + ad_{V_parent} psi'.

    The rigid displacement changes no torque of the subtree; the rest needs the wrench
    I psi'' + 2 B psi', B the velocity matrix of subtree_inertia.py,
    2 B X = -ad*_V I X - I ad_V X - ad*_X I V.
    Summed over the subtree of i, for j = i or an ancestor of it:

    d tau_i / dq_j = S_i' (I_i psi''_j + 2 B_i psi'_j),
    d tau_j / dq_i = S_j' (I_i psi''_i + 2 B_i psi'_i - ad*_{S_i} F_i),  j not i,
    d tau_i / dv_j = S_i' (I_i (psi'_j + ad_{V_j} S_j) + 2 B_i S_j),  and d tau_j / dv_i alike,
    d tau_i / da_j = S_i' I_i S_j.

    :param q, v, a: configuration (nq,), velocity and acceleration (nv,).
    :param wrenches: (bodies, 6) as for `inverse_dynamics`, constant in their bodies' frames.

    Singh, Russell and Wensing 2022, here in the bodies' frames and without linear velocities: at
    each body, in the inertial frame that moves with its origin at this instant. O(n depth).
    """
    dq, dv = (slope.tolist() for slope in passive_slopes(model, q, v))
    wrenches = split_planar_wrenches(model, wrenches)
    model = split_planar_joints(model)
    T, S = joints_at(model, q)
    motions = newton_euler_motions(model, T, S, q, v, a)
    F = _joint_wrenches(model, T, motions, wrenches)
    twice = [2.0 * motion.w for motion in motions]  # B is linear in velocities: this is 2 B
    drift = drifts(model, T, S, 2.0 * v, twice)
    subtrees = subtree_inertia(model, T, twice, drift)
    columns = [_columns(S[i], S[i] @ v[body.v], S[i] @ a[body.v], motions[i]) if body.parent >= 0
               else _columns_of_root(S[i], S[i] @ v[body.v], T[i].R.T @ motions[-1].acc, motions[i])
               for i, body in enumerate(model.bodies)]
    da = np.diag(model.armature).tolist()
    for i, body in enumerate(model.bodies):
        subtree, own = subtrees[i], columns[i]
        by_q = subtree.inertia @ own.second + subtree.velocity_matrix(own.first)
        by_v = subtree.inertia @ own.both + subtree.velocity_matrix(S[i])
        by_a = subtree.inertia @ S[i]
        row = subtree.velocity_matrix_transposed(S[i])
        add_block(dq, body.v, body.v, S[i].T @ by_q)
        add_block(dv, body.v, body.v, S[i].T @ by_v)
        add_block(da, body.v, body.v, symmetric(S[i].T @ by_a))
        by_q = by_q - ad_dual(S[i], F[i])
        k = i
        for j in model.ancestors(i):
            by_q, by_v, by_a = (Ad_inv_dual(T[k], wrench) for wrench in (by_q, by_v, by_a))
            row = seen_from_parent(row, T[k], drift[k], by_a)
            up, other = model.bodies[j].v, columns[j]
            add_block(dq, up, body.v, S[j].T @ by_q)
            add_block(dq, body.v, up, row.T @ other.first[:3] + by_a.T @ other.second)
            add_block(dv, up, body.v, S[j].T @ by_v)
            add_block(dv, body.v, up, row.T @ S[j][:3] + by_a.T @ other.both)
            inertia = S[j].T @ by_a
            add_block(da, up, body.v, inertia)
            add_block(da, body.v, up, inertia.T)
            k = j
    return InverseDerivatives(square(dq), square(dv), square(da))


def _joint_wrenches(model: Model, T: list[Pose], motions: list[BodyMotion],
                    wrenches: np.ndarray | None) -> list[np.ndarray]:
    """Return the wrench that each joint transmits, (6,) each, and the world's."""
    F = [needed_wrench(inertia, motion) for inertia, motion in zip(model.inertias, motions[:-1])]
    if wrenches is not None:
        F = [needed - wrench for needed, wrench in zip(F, wrenches)]
    F.append(np.zeros(6))
    for i in reversed(range(len(model.bodies))):
        parent = model.bodies[i].parent
        F[parent] = F[parent] + Ad_inv_dual(T[i], F[i])
    return F


def bias_from_derivatives(model: Model, q: np.ndarray, v: np.ndarray, dv: np.ndarray,
                          wrenches: np.ndarray | None = None) -> np.ndarray:
    """Return ID(q, v, 0) from its derivative dv by v, (nv,).

    Without friction and springs it is the torque at rest plus a homogeneous quadratic function b of
    v, for which  b = 1/2 (db/dv) v  (Euler).
    """
    slope = dv - passive_slopes(model, q, v)[1]
    still = np.zeros(model.nv)
    at_rest = newton_euler(model, q, still, still, wrenches)
    return at_rest + 0.5 * (slope @ v) + passive_torque(model, q, v)


class _Columns(NamedTuple):
    """psi' and psi'' of joint j, in the frame of body j that moves with its origin."""

    first: np.ndarray   # psi' (6, n_j)
    second: np.ndarray  # psi'' (6, n_j)
    both: np.ndarray    # psi' + ad_V s (6, n_j)


def _columns(S: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray, motion: BodyMotion
             ) -> _Columns:
    """Return psi', psi'' and their sum from the motion of the body itself, not of its parent.

    With the joint's own velocity r = S v and d = ad_r s, which is zero for a joint of one axis,
    psi' = ad_V s - d,   psi'' = ad_A s + ad_V ad_V s - ad_{S a} s - 2 ad_V d + ad_r d.
    """
    w, U, turn, slide = motion.w, motion.U, S[:3], S[3:]
    d = ad(velocity, S)
    second = np.concatenate([U @ turn, U @ slide + cross(motion.acc, turn)])
    own = ad(acceleration, S) + ad_angular(2.0 * w, d) - ad(velocity, d)
    return _Columns(ad_angular(w, S) - d, second - own, ad_angular(2.0 * w, S) - d)


def _columns_of_root(S: np.ndarray, velocity: np.ndarray, rise: np.ndarray, motion: BodyMotion
                     ) -> _Columns:
    """Return psi', psi'' and psi' + ad_V s of a joint whose parent is the world, which is at rest.

    In the frame that moves with the body's origin, V_parent = (0, -r) and A_parent = (0, -g). B is
    zero for psi', which has no angular part: a displaced base only changes the direction of gravity
    in its axes. Written as in `_columns`, the terms would not cancel on symbols.

    :param velocity: of the joint, its linear part is r.
    :param rise: -g in the axes of the body.
    """
    first = _ad_linear(-velocity[3:], S)
    return _Columns(first, _ad_linear(rise, S), ad_angular(motion.w, S) + first)


def _ad_linear(y: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return ad_V X for the twist V = (0, y)."""
    return np.concatenate([np.zeros_like(X[:3]), cross(y, X[:3])])
