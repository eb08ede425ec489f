"""Define rigid contacts of points with the ground z = height, for simulations."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dynamics_node.checks import check_kind, finite
from dynamics_node.constrained.constraint import Constraint, Vector
from dynamics_node.errors import ModelError, shown


@dataclass(frozen=True)
class RigidContact:
    """A point of a link that may touch the ground z = height of the world."""

    name: str
    frame: str                            # link that touches
    restitution: float = 0.0              # e: 0 is plastic, 1 is elastic
    friction: float = math.inf            # inf: the point never slides; 0: it slides freely
    point: Vector = (0.0, 0.0, 0.0)       # in the frame [m]
    height: float = 0.0                   # of the ground [m]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f'the name of a rigid contact is {shown(self.name)}; expected a text '
                             'that is not empty')
        where = f"rigid contact '{self.name}':"
        check_kind(f'{where} frame', self.frame, str)
        for field, shape in (('restitution', ()), ('height', ()), ('point', (3,))):
            value = finite(f'{where} {field}', getattr(self, field), shape)
            object.__setattr__(self, field, tuple(value.tolist()) if shape else float(value))
        if not 0.0 <= self.restitution <= 1.0:
            raise ModelError(f'{where} restitution is {self.restitution}; expected a number from '
                             '0, plastic, to 1, elastic')
        if not isinstance(self.friction, (int, float)) or self.friction not in (0.0, math.inf):
            raise ModelError(f'{where} friction is {shown(self.friction)}; expected 0 (it '
                             'slides freely) or inf (it never slides); a SoftContact has a finite '
                             'coefficient')

    @property
    def sticks(self) -> bool:
        """Whether the point cannot slide while it touches."""
        return self.friction > 0.0

    @property
    def height_row(self) -> Constraint:
        """The constraint whose residual is the height of the point above the ground [m]."""
        return Constraint(self.name, 'point_on_plane', self.frame, pose=self.point,
                          distance=self.height)

    @property
    def closed(self) -> Constraint:
        """The constraint of the point while it touches: three rows if it sticks, else one."""
        if not self.sticks:
            return self.height_row
        return Constraint(self.name, 'point_contact', self.frame, pose=self.point)


def normal_rows(contacts: Sequence[RigidContact]) -> list[int]:
    """Return the row of each contact along the normal, among the rows of all these contacts."""
    rows, first = [], 0
    for contact in contacts:
        size = 3 if contact.sticks else 1
        rows.append(first + size - 1)
        first += size
    return rows
