"""Compute the generalised momentum p = M v and its drift C' v - g (momentum observer)."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.tree_recursions import (
    add_entries,
    forward_recursion,
    gravity_in_bodies,
    subspace_rate,
)
from dynamics_node.model.model import Model
from dynamics_node.spatial.se3 import Ad_inv_dual, ad_dual
from dynamics_node.spatial.so3 import cross


class GeneralisedMomentum(NamedTuple):
    """The momentum of each degree of freedom, and its rate at zero torque."""

    value: np.ndarray  # p = M v, (nv,)
    drift: np.ndarray  # C' v - g: dp/dt = drift + tau - friction + sum J' F_ext, (nv,)


def generalised_momentum(model: Model, q: np.ndarray, v: np.ndarray) -> GeneralisedMomentum:
    r"""Return p = M(q) v, armature included, and C(q, v)' v - g(q).

    M a + C v + g = tau and dM/dt = C + C' give  dp/dt = M a + dM/dt v = tau + C' v - g.
    No matrix is needed: with H_j the momentum and G_j the weight of the subtree of body j, both in
    the frame of body j,

    p_j = S_j' H_j,    (C' v - g)_j = S_j' (ad*_{V_j} H_j + G_j) + (dS_j/dt)' H_j,

    since dH_j/dt = ad*_{V_j} H_j + the wrenches on the subtree. O(n).

    :param q, v: configuration (nq,) and velocity (nv,).

    De Luca et al. 2006 differentiate M instead.
    """
    T, S, V, _ = forward_recursion(model, q, v)
    down = gravity_in_bodies(model, T)
    n = len(model.bodies)
    H = [inertia @ twist for inertia, twist in zip(model.inertias[:n], V)] + [np.zeros(6)]
    G = [np.concatenate([cross(inertia.moment, g), inertia.mass * g])
         for inertia, g in zip(model.inertias[:n], down)] + [np.zeros(6)]
    p, drift = list(model.armature * v), [0.0] * model.nv
    for i in reversed(range(n)):
        body = model.bodies[i]
        rates = S[i].T @ (ad_dual(V[i], H[i]) + G[i]) + subspace_rate(body, q, v).T @ H[i]
        add_entries(p, body.v, S[i].T @ H[i])
        add_entries(drift, body.v, rates)
        H[body.parent] = H[body.parent] + Ad_inv_dual(T[i], H[i])
        G[body.parent] = G[body.parent] + Ad_inv_dual(T[i], G[i])
    return GeneralisedMomentum(np.array(p), np.array(drift))
