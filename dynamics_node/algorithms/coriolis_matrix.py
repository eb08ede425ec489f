"""Compute the Coriolis matrix of the Christoffel symbols (Echeandia and Wensing 2021)."""

import numpy as np

from dynamics_node.algorithms.subtree_inertia import (
    ad_angular,
    drifts,
    seen_from_parent,
    subtree_inertia,
)
from dynamics_node.algorithms.tree_recursions import add_block, forward_recursion, square
from dynamics_node.model.model import Model
from dynamics_node.model.split_planar import split_planar_joints
from dynamics_node.spatial.se3 import Ad_inv_dual


def coriolis_matrix(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    r"""Return C(q, v) with C v + g = bias and dM/dt - 2 C skew-symmetric, (nv, nv).

    Many matrices have these properties; this one is that of the Christoffel symbols,
    C_ij = sum_k 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k  where v = dq/dt.
    With J_k the Jacobian of body k and B_k its velocity matrix,
    C = sum_k J_k' (I_k dJ_k/dt + B_k J_k), summed over composite bodies from the leaves in.

    Echeandia and Wensing 2021, algorithm 1, without linear velocities: see subtree_inertia.py.
    O(n depth).
    """
    model = split_planar_joints(model)
    T, S, V, _ = forward_recursion(model, q, v)
    w = [twist[:3] for twist in V]
    drift = drifts(model, T, S, v, w)
    subtrees = subtree_inertia(model, T, w, drift)
    rate = [ad_angular(w[i], S[i]) for i in range(len(model.bodies))]
    C = np.zeros((model.nv, model.nv)).tolist()
    for j, body in enumerate(model.bodies):
        subtree = subtrees[j]
        # down: column j in the ancestors' rows; across and back: row j in the ancestors' columns
        down = subtree.inertia @ rate[j] + subtree.velocity_matrix(S[j])
        across = subtree.inertia @ S[j]
        back = subtree.velocity_matrix_transposed(S[j])
        add_block(C, body.v, body.v, S[j].T @ down)
        k = j
        for i in model.ancestors(j):
            down, across = (Ad_inv_dual(T[k], F) for F in (down, across))
            back = seen_from_parent(back, T[k], drift[k], across)
            up = model.bodies[i].v
            add_block(C, up, body.v, S[i].T @ down)
            add_block(C, body.v, up, across.T @ rate[i] + back.T @ S[i][:3])
            k = i
    return square(C)
