"""What of the whole-body problem is the same in every state?"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import size


@dataclass(frozen=True, eq=False)
class Setting:
    """How a robot is held and driven; the unknowns are x = (a, f).

    Equal ones are one object, and known by its identity: what tasks and bounds make of it is kept
    by lru_cache.
    """

    model: object       # a Model
    held: tuple         # of Constraint
    driven: np.ndarray  # which degrees of freedom have a motor, indices
    free: np.ndarray    # those without
    places: dict        # constraint -> slice of x, its forces
    size: int           # how many unknowns there are


@lru_cache(maxsize=64)
def setting_of(model, held, passive):
    """Return the Setting of a model.

    :param held: tuple of Constraint; passive: names of joints without a motor.
    """
    driven = actuated_dofs(model, passive)
    places, last = {}, model.nv
    for constraint in held:
        first, last = last, last + size(constraint)
        places[constraint.name] = slice(first, last)
    return Setting(model, held, np.flatnonzero(driven), np.flatnonzero(~driven), places, last)


def picked(which, size):
    """Return the rows that pick some of the unknowns, (k, size)."""
    rows = np.zeros((len(which), size))
    rows[np.arange(len(which)), which] = 1.0
    rows.flags.writeable = False  # everybody gets the same
    return rows
