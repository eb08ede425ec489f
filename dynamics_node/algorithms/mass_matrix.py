"""Compute the mass matrix M(q) (composite rigid bodies) and its inverse."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.tree_recursions import add_block, joints_at, square
from dynamics_node.model.model import Model
from dynamics_node.spatial.inertia import Inertia
from dynamics_node.spatial.se3 import Ad_inv_dual, Pose
from dynamics_node.spatial.solve import factor, solve_factored, symmetric

# M is singular where a pivot of its elimination is no larger than this share of the usual inertia
# that the joint moves (model.inertia_scale): below is rounding. The smallest share among the joints
# of 67 published robots is 2e-5.
SINGULAR = 1e-10


def mass_matrix(model: Model, q: np.ndarray) -> np.ndarray:
    r"""Return the joint-space inertia M(q), symmetric, armature on its diagonal, (nv, nv).

    The kinetic energy is 1/2 v' M(q) v. With the composite inertia I^c_i of body i and its
    subtree,  M_ij = S_i' I^c_i Ad S_j  for every ancestor j of i.

    Walker and Orin 1982; Featherstone 2008, section 6.2. O(n depth).
    """
    T, S = joints_at(model, q)
    composite = composite_inertias(model, T)
    M = np.diag(model.armature).tolist()
    for i, body in enumerate(model.bodies):
        F = composite[i] @ S[i]
        add_block(M, body.v, body.v, symmetric(S[i].T @ F))
        k = i
        for j in model.ancestors(i):
            F = Ad_inv_dual(T[k], F)  # the same wrenches, in the frame of the next ancestor
            block = S[j].T @ F
            add_block(M, model.bodies[j].v, body.v, block)
            add_block(M, body.v, model.bodies[j].v, block.T)
            k = j
    return square(M)


def composite_inertias(model: Model, T: list[Pose]) -> list[Inertia]:
    """Return the inertia of each body welded to its subtree; the world's is last."""
    composite = list(model.inertias)
    for i in reversed(range(len(model.bodies))):
        parent = model.bodies[i].parent
        composite[parent] = composite[parent] + composite[i].seen_from(T[i])
    return composite


class MassMatrixInverse(NamedTuple):
    """M^-1, and the margin by which M is regular."""

    matrix: np.ndarray  # (nv, nv), symmetric
    margin: np.ndarray  # (nv,) positive where M is regular


def mass_matrix_inverse(model: Model, q: np.ndarray, as_rows: Callable = np.asarray
                        ) -> MassMatrixInverse:
    """Return M(q)^-1 by M = L' D L, which keeps the zeros between branches.

    :param as_rows: applied to the right side: np.asarray, or, in a kernel, the conversion to rows
        of compiler/row_statements.py, which makes loops of the solve.
    """
    M = mass_matrix(model, q)
    L, d = factor(M)
    inverse = solve_factored(L, d, as_rows(np.eye(model.nv)))
    return MassMatrixInverse(symmetric(inverse), pivot_margin(model, d))


def pivot_margin(model: Model, pivots: np.ndarray) -> np.ndarray:
    """Return the margins, positive where a pivot is inertia and not rounding, (nv,).

    The pivots of M = L' D L and of the articulated bodies are the same numbers, so both ways of
    forward dynamics agree on singular models.
    """
    return pivots - SINGULAR * model.inertia_scale
