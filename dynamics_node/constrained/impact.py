"""Compute impacts: the velocity after constraints are hit, for independent rows (Hutter 2017)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.algorithms.mass_matrix import mass_matrix, pivot_margin
from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.constrained.hybrid import DEPENDENT
from dynamics_node.constrained.rows import constraint_matrix
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.model.model import Model
from dynamics_node.spatial.solve import factor, solve_factored, symmetric


class Impact(NamedTuple):
    """Velocity after an impact, impulses and energy loss."""

    v: np.ndarray               # (nv,) velocity after the impact
    impulse: np.ndarray         # (m,) on frame 2, in frame 1's axes [N s, N m s]
    energy_loss: float          # kinetic energy before, less that after [J]
    margin: np.ndarray          # (m,) positive where the rows are independent of each other
    inertia_margin: np.ndarray  # (nv,) positive where M is regular


def impact(model: Model, q: np.ndarray, v: np.ndarray, constraints: Sequence[Constraint],
           restitution: ArrayLike | Mapping[str, ArrayLike] = 0.0) -> Impact:
    r"""Return the Impact of a robot at velocity v with all the constraints at once.

    A v^+ = -e A v^-,   M (v^+ - v^-) = A' impulse,   so that with Lambda_c = (A M^-1 A')^-1

    impulse = -Lambda_c (1 + e) A v^-,   v^+ = v^- + M^-1 A' impulse,
    energy_loss = -1/2 (v^+ + v^-)' A' impulse.

    :param restitution: e, see `restitution_of_rows`, or (m,) numbers, one per row.

    Hutter 2017, eq. 3.65 to 3.71, which are e = 0: then v^+ = N_c v^- and the loss is
    1/2 (A v)' Lambda_c (A v). With one e <= 1 for all rows it is 1 - e^2 of that. With different e
    Newton's law can increase the energy: the loss is then negative.
    Dependent rows: see `redundant_impact`.
    """
    A = constraint_matrix(model, q, constraints)
    e = restitution_of_rows(constraints, restitution)
    L, d = factor(mass_matrix(model, q))
    yielding = solve_factored(L, d, A.T)
    delassus = symmetric(A @ yielding)
    hit = A @ v
    L_c, d_c = factor(delassus)
    impulse = -solve_factored(L_c, d_c, (1.0 + e) * hit)
    after = v + yielding @ impulse
    # A (v^+ + v^-) = (1 - e) A v^- avoids the difference of two large energies
    loss = -0.5 * (((1.0 - e) * hit) @ impulse)
    return Impact(after, impulse, loss, d_c - DEPENDENT * np.diag(delassus),
                  pivot_margin(model, d))


def restitution_of_rows(constraints: Sequence[Constraint],
                        restitution: ArrayLike | Mapping[str, ArrayLike]) -> np.ndarray:
    """Return e of every row, (m,).

    The range of the numbers is checked by robot/arguments.py.

    :param restitution: one number 0..1 for all rows of all contacts (point, line, flat), with 0
        for the other constraints;
        or {name of a constraint: number, or one per row}, 0 for those not named; or (m,) numbers.
        {'foot': (0, 0, e)} stops a point sideways and reflects it along the normal.
    """
    sizes = [size(constraint) for constraint in constraints]
    if isinstance(restitution, Mapping):
        names = [constraint.name for constraint in constraints]
        for name in restitution:
            if name not in names:
                raise DynamicsError(f'restitution: no constraint {shown(name)}; the set has: '
                                    f'{", ".join(names) or "none"}')
        parts = [np.broadcast_to(restitution.get(constraint.name, 0.0), n)
                 for constraint, n in zip(constraints, sizes)]
    elif np.ndim(restitution) == 1:
        return np.asarray(restitution)
    else:
        parts = [np.full(n, restitution if constraint.is_contact else 0.0)
                 for constraint, n in zip(constraints, sizes)]
    return np.concatenate([np.zeros(0), *parts])
