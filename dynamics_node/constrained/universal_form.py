r"""Compute the motion of all bodies and the forces of all joints, loops and motors (Pan, 7 and 8).

    [ -I  C ] [ a   ]   [ f_p ]
    [ C'  0 ] [ eta ] = [ c_a ]

In Pan's universal form every body is free, every joint, loop and prescribed acceleration is a
constraint, and eta are their forces. For a tree, row operations make C block diagonal: the rows of
all bodies in its subtree are added to the rows of a body. The rows of body i are then

    C_i eta_i = sum over the subtree of (I a + f_p),

so that all forces follow from the accelerations in O(n). The forces of loops, which are not in
this form, are known from the constrained dynamics and moved to the right side.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.springs import spring_wrenches
from dynamics_node.algorithms.tree_recursions import (
    ForwardRecursion,
    forward_recursion,
    gravity_acceleration,
    per_body,
)
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.regular_or_fallback import hybrid
from dynamics_node.constrained.rows import constraint_wrenches
from dynamics_node.model.model import Model
from dynamics_node.spatial.se3 import Ad_inv, Ad_inv_dual, ad_dual


class UniversalForm(NamedTuple):
    """Motion of all joints and bodies, and all forces; 6-vectors are linear first.

    Bodies are in the order of `model.bodies`: the child link of each moving joint, mimic joints
    included, with all links fixed to it. Their vectors are at that link's origin, in its axes.
    """

    a: np.ndarray               # (nv,)
    tau: np.ndarray             # (nv,)
    multipliers: np.ndarray     # (m,) forces of the loops, see `constraint.row_names`
    accelerations: np.ndarray   # (bodies, 6) rate of the body's twist
    joint_wrenches: np.ndarray  # (bodies, 6) on the body from its joint: bearing and drive
    reactions: np.ndarray       # (bodies, 6) of the bearing alone: across the joint's axes


def universal_form(model: Model, constraints: Sequence[Constraint], q: np.ndarray, v: np.ndarray,
                   a: np.ndarray, tau: np.ndarray, given: np.ndarray,
                   wrenches: np.ndarray | None = None) -> UniversalForm:
    """Return the UniversalForm of accelerations where given is True and torques elsewhere.

    All accelerations given is inverse dynamics (problem 7), none forward dynamics (problem 8).

    :param given: (nv,) booleans.
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.
    """
    motion = hybrid(model, constraints, q, v, a, tau, given, wrenches)
    tree = forward_recursion(model, q, v)
    dV = _accelerations(model, tree, motion.a)
    external = constraint_wrenches(model, q, constraints, motion.multipliers)[:-1]
    if wrenches is not None:
        external = external + wrenches
    if model.springs:
        external = external + spring_wrenches(model, q, v)
    F = _summed_over_subtrees(model, tree, [
        inertia @ rate - ad_dual(V, inertia @ V) - force
        for inertia, rate, V, force in zip(model.inertias, dV, tree.V, external)])
    across = [wrench - S @ (np.linalg.pinv(S) @ wrench) for S, wrench in zip(tree.S, F)]
    return UniversalForm(*motion, _linear_first(_without_gravity(model, tree, dV)),
                         _linear_first(F), _linear_first(across))


def _accelerations(model: Model, tree: ForwardRecursion, a: np.ndarray) -> list[np.ndarray]:
    """Return dV/dt of each body and, as last entry, of the world, which accelerates by -g."""
    dV = per_body(model, gravity_acceleration(model))
    for i, body in enumerate(model.bodies):
        dV[i] = Ad_inv(tree.T[i], dV[body.parent]) + tree.S[i] @ a[body.v] + tree.eta[i]
    return dV


def _without_gravity(model: Model, tree: ForwardRecursion,
                     dV: list[np.ndarray]) -> list[np.ndarray]:
    """Return dV/dt of each body relative to a world at rest: without the acceleration by -g."""
    lifted = per_body(model, gravity_acceleration(model))
    for i, body in enumerate(model.bodies):
        lifted[i] = Ad_inv(tree.T[i], lifted[body.parent])
    return [rate - part for rate, part in zip(dV[:-1], lifted)]


def _summed_over_subtrees(model: Model, tree: ForwardRecursion,
                          F: list[np.ndarray]) -> list[np.ndarray]:
    """Return for each body the sum of the wrenches of its subtree, in its frame."""
    F = [*F, np.zeros(6)]
    for i in reversed(range(len(model.bodies))):
        parent = model.bodies[i].parent
        F[parent] = F[parent] + Ad_inv_dual(tree.T[i], F[i])
    return F[:-1]


def _linear_first(vectors: list[np.ndarray]) -> np.ndarray:
    return np.roll(np.reshape(vectors, (-1, 6)), 3, axis=1)
