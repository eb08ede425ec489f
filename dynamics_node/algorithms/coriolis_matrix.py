"""How do velocities couple? The Coriolis matrix of Christoffel's symbols."""

import numpy as np

from dynamics_node.algorithms.mass_matrix import composite_inertias
from dynamics_node.algorithms.recursion import add_block, moving, square, subspace_rate
from dynamics_node.spatial import so3
from dynamics_node.spatial.inertia import BlockInertia, articulated
from dynamics_node.spatial.se3 import Ad_inv_dual, ad


def coriolis_matrix(model, q, v):
    r"""Return C(q, v) with C v + g = bias and dM/dt - 2 C skew-symmetric, (nv, nv).

    Of the many such matrices this is the one of the Christoffel symbols,
    C_ij = sum_k 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k  where v = dq/dt.
    With J_k the Jacobian of body k and B_k its velocity matrix,
    C = sum_k J_k' (I_k dJ_k/dt + B_k J_k), summed over composite bodies from the leaves in.

    Echeandia and Wensing 2021, algorithm 1. O(n depth).
    """
    T, S, V, _ = moving(model, q, v)
    rate = [subspace_rate(body, q, v) + ad(V[i], S[i]) for i, body in enumerate(model.bodies)]
    inertia = composite_inertias(model, T)
    B = _composite_velocity_matrices(model, T, V)
    C = np.zeros((model.nv, model.nv)).tolist()
    for j, body in enumerate(model.bodies):
        down = inertia[j] @ rate[j] + B[j] @ S[j]   # column j, rows of the ancestors
        across = inertia[j] @ S[j]                  # row j, columns of the ancestors
        back = B[j].T @ S[j]
        add_block(C, body.v, body.v, S[j].T @ down)
        k = j
        for i in model.ancestors(j):
            down, across, back = (Ad_inv_dual(T[k], F) for F in (down, across, back))
            add_block(C, model.bodies[i].v, body.v, S[i].T @ down)
            add_block(C, body.v, model.bodies[i].v, (rate[i].T @ across + S[i].T @ back).T)
            k = i
    return square(C)


def _composite_velocity_matrices(model, T, V):
    B = [_velocity_matrix(inertia, twist) for inertia, twist in zip(model.inertias, V)]
    for i in reversed(range(len(model.bodies))):
        parent = model.bodies[i].parent
        B[parent] = B[parent] + B[i].seen_from(T[i])
    return B


def _velocity_matrix(inertia, V):
    r"""Return B = 1/2 (-ad*_V I - I ad_V + K),  K X = -ad*_X (I V)."""
    w, v = so3.skew(V[:3]), so3.skew(V[3:])
    L = inertia @ V
    l, p = so3.skew(L[:3]), so3.skew(L[3:])
    A, H, _, D = articulated(inertia)
    # -ad*_V I = [[w, v], [0, w]] [[A, H], [H', D]],  I ad_V = [[A, H], [H', D]] [[w, 0], [v, w]]
    return BlockInertia(
        0.5 * (w @ A + v @ H.T - A @ w - H @ v - l),
        0.5 * (w @ H + v @ D - H @ w - p),
        0.5 * (w @ H.T - H.T @ w - D @ v - p),
        0.5 * (w @ D - D @ w),
    )
