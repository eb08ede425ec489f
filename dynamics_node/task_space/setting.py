"""What of the whole-body problem is the same in every state?"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import size


@dataclass(frozen=True, eq=False)
class Setting:
    """How a robot is constraints and actuated; the unknowns are x = (a, f).

    Equal ones are one object, and known by its identity: what tasks and bounds make of it is kept
    by lru_cache.
    """

    model: object       # a Model
    constraints: tuple         # of Constraint
    actuated: np.ndarray  # which degrees of freedom have a motor, indices
    unactuated: np.ndarray    # those without
    force_slices: dict        # constraint -> slice of x, its forces
    size: int           # how many unknowns there are


@lru_cache(maxsize=64)
def setting_of(model, constraints, passive):
    """Return the Setting of a model.

    :param constraints: tuple of Constraint; passive: names of joints without a motor.
    """
    actuated = actuated_dofs(model, passive)
    force_slices, last = {}, model.nv
    for constraint in constraints:
        first, last = last, last + size(constraint)
        force_slices[constraint.name] = slice(first, last)
    return Setting(model, constraints, np.flatnonzero(actuated), np.flatnonzero(~actuated),
                   force_slices, last)


def picked(which, size):
    """Return the rows that pick some of the unknowns, (k, size)."""
    rows = np.zeros((len(which), size))
    rows[np.arange(len(which)), which] = 1.0
    rows.flags.writeable = False  # everybody gets the same
    return rows
