"""Make the anchors of contacts with the world inputs of a kernel instead of constants."""

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.model.model import WORLD_NAME
from dynamics_node.spatial.se3 import Pose

SIZE = 12  # numbers of an anchor in the world: rotation matrix row by row, position [m]
_SOME_POSE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def has_anchor(constraint: Constraint) -> bool:
    """Return whether a constraint is a contact with the world at a given place."""
    return constraint.is_contact and constraint.to == WORLD_NAME and bool(constraint.to_pose)


def without_anchors(constraints: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    """Return the constraints, every anchor replaced by one fixed pose.

    Sets of contacts that differ only in their anchors become equal, and share a kernel.
    """
    if not any(map(has_anchor, constraints)):
        return constraints
    return tuple(replace(constraint, to_pose=_SOME_POSE) if has_anchor(constraint) else constraint
                 for constraint in constraints)


def anchors_of(constraints: Sequence[Constraint]) -> np.ndarray:
    """Return the numbers of all anchors, (12 k,)."""
    places = [constraint.to_placement for constraint in constraints if has_anchor(constraint)]
    return np.concatenate([np.zeros(0), *(part.ravel() for place in places for part in place)])


def at_anchors(constraints: Sequence[Constraint], anchors: np.ndarray) -> list[Constraint]:
    """Return the constraints with the anchors at other places, on floats or symbols.

    :param anchors: (12 k,) as in `anchors_of`.
    """
    found, first = [], 0
    for constraint in constraints:
        if has_anchor(constraint):
            own = anchors[first:first + SIZE]
            first += SIZE
            constraint = _Anchored(constraint, Pose(own[:9].reshape(3, 3), own[9:]))
        found.append(constraint)
    return found


class _Anchored(Constraint):
    """A contact whose anchor is a given Pose, of floats or symbols."""

    def __init__(self, constraint: Constraint, place: Pose) -> None:
        for field in fields(constraint):
            object.__setattr__(self, field.name, getattr(constraint, field.name))
        object.__setattr__(self, '_place', place)

    @property
    def to_placement(self) -> Pose:
        return self._place  # type: ignore[attr-defined]
