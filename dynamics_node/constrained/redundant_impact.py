"""Compute impacts with rank-deficient constraint rows (float only: an SVD)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.impact import restitution_of_rows
from dynamics_node.constrained.row_decomposition import decompose
from dynamics_node.constrained.rows import constraint_matrix
from dynamics_node.model.model import Model


class RedundantImpact(NamedTuple):
    """An impact with constraints of any rank."""

    v: np.ndarray          # (nv,) velocity after the impact
    impulse: np.ndarray    # (m,) the smallest, sum of squares [N s, N m s]
    energy_loss: float     # kinetic energy before, less that after [J]
    violation: np.ndarray  # (m,) A v^+ + e A v^-: zero unless the restitutions contradict
    rank: int


def redundant_impact(model: Model, q: np.ndarray, v: np.ndarray, constraints: Sequence[Constraint],
                     restitution: ArrayLike | Mapping[str, ArrayLike] = 0.0) -> RedundantImpact:
    """Return the RedundantImpact: as `impact`, for example for four feet of one rigid body.

    v^+ and the loss are unique, the impulses are those of least sum of squares. Different
    restitutions for feet of one rigid body can contradict each other: then the rows are satisfied
    in the least-squares sense, and `violation` is not zero.
    """
    e = restitution_of_rows(constraints, restitution)
    A = constraint_matrix(model, q, constraints)
    found = decompose(mass_matrix(model, q), A)
    hit = A @ v
    change = -found.step((1.0 + e) * hit)
    after = v + np.linalg.solve(found.L.T, change)
    back = A @ after
    # (M + s A'A) dv = A' (impulse + s A dv), where s has been added to M
    impulse = found.multipliers(change) - found.added * (back - hit)
    return RedundantImpact(after, impulse, float(-0.5 * ((hit + back) @ impulse)),
                           back + e * hit, found.rank)
