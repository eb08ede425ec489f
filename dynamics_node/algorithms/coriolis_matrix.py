"""How do velocities couple? The Coriolis matrix of Christoffel's symbols."""

import numpy as np

from dynamics_node.algorithms.recursion import add_block, body_motions, square
from dynamics_node.algorithms.subtree_inertia import (
    drifts,
    seen_from_parent,
    subtree_inertia,
    turned,
)
from dynamics_node.model.split_planar import with_one_axis_joints
from dynamics_node.spatial.se3 import Ad_inv_dual


def coriolis_matrix(model, q, v):
    r"""Return C(q, v) with C v + g = bias and dM/dt - 2 C skew-symmetric, (nv, nv).

    Of the many such matrices this is the one of the Christoffel symbols,
    C_ij = sum_k 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k  where v = dq/dt.
    With J_k the Jacobian of body k and B_k its velocity matrix,
    C = sum_k J_k' (I_k dJ_k/dt + B_k J_k), summed over composite bodies from the leaves in.

    Echeandia and Wensing 2021, algorithm 1, here without linear velocities: see hanging.py.
    O(n depth).
    """
    model = with_one_axis_joints(model)
    T, S, V, _ = body_motions(model, q, v)
    w = [twist[:3] for twist in V]
    drift = drifts(model, T, S, v, w)
    loads = subtree_inertia(model, T, w, drift)
    rate = [turned(w[i], S[i]) for i in range(len(model.bodies))]
    C = np.zeros((model.nv, model.nv)).tolist()
    for j, body in enumerate(model.bodies):
        load = loads[j]
        down = load.inertia @ rate[j] + load.velocity_matrix(S[j])  # column j, ancestors' rows
        across = load.inertia @ S[j]                                # row j, ancestors' columns
        back = load.velocity_matrix_transposed(S[j])
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
