"""Define the state-independent part of the whole-body problem."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.model.model import Model


@dataclass(frozen=True, eq=False)
class Setting:
    """Constraints and actuation of a robot; the unknowns are x = (a, f).

    `setting_of` returns one object for equal arguments, so that rows of tasks and bounds can be
    cached by its identity.
    """

    model: Model
    constraints: tuple[Constraint, ...]
    actuated: np.ndarray           # indices of the actuated degrees of freedom
    unactuated: np.ndarray         # indices of the others
    force_slices: dict[str, slice]  # name of a constraint -> its forces in x
    size: int                      # number of unknowns


@lru_cache(maxsize=64)
def setting_of(model: Model, constraints: tuple[Constraint, ...],
               passive: tuple[str, ...]) -> Setting:
    """Return the Setting of a model.

    :param constraints: tuple of Constraint; passive: names of joints without actuator.
    """
    actuated = actuated_dofs(model, passive)
    force_slices, last = {}, model.nv
    for constraint in constraints:
        first, last = last, last + size(constraint)
        force_slices[constraint.name] = slice(first, last)
    return Setting(model, constraints, np.flatnonzero(actuated), np.flatnonzero(~actuated),
                   force_slices, last)


def picked(which: Sequence[int] | np.ndarray, size: int) -> np.ndarray:
    """Return the rows that select some of the unknowns, (k, size)."""
    rows = np.zeros((len(which), size))
    rows[np.arange(len(which)), which] = 1.0
    rows.flags.writeable = False  # callers keep it in a cache
    return rows
