"""Compute contact forces from the model, without force sensors, for any rank (float only)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.constrained.rank_deficient import rank_deficient_forward
from dynamics_node.model.model import Model


class ContactForces(NamedTuple):
    """Contact forces on the robot, and the resulting acceleration."""

    force: np.ndarray      # (m,) multipliers on frame 2, in frame 1's axes [N, N m]
    a: np.ndarray          # (nv,)
    violation: np.ndarray  # (m,) A a + gamma: zero unless the constraints contradict each other
    rank: int              # below m the forces are not unique


def contact_forces(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                   constraints: Sequence[Constraint],
                   wrenches: np.ndarray | None = None) -> ContactForces:
    r"""Return the ContactForces under the torques tau.

    With h = b + g + friction - J' F_ext,

    force = -Lambda_c (A M^-1 (tau - h) + gamma),   a = M^-1 (tau - h + A' force).

    :param q, v, tau: configuration (nq,), velocity and torque (nv,), zero at a floating base.
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.

    Hutter 2017, eq. 3.61, whose F_c = -force is the force of the robot on its environment. Where
    contacts are redundant (the four feet of a rigid table) the forces are those of least sum of
    squares; a is unique.
    """
    found = rank_deficient_forward(model, q, v, tau, constraints, wrenches)
    return ContactForces(found.multipliers, found.a, found.violation, found.rank)


def by_name(constraints: Sequence[Constraint], force: ArrayLike) -> dict[str, np.ndarray]:
    """Return {name of a constraint: its part of the force}, in order."""
    ends = np.cumsum([size(constraint) for constraint in constraints], dtype=int)
    return {constraint.name: part
            for constraint, part in zip(constraints, np.split(np.asarray(force), ends[:-1]))}
