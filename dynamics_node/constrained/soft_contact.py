r"""Compute the forces of soft contacts of points with planes: springs, dampers and friction.

Where a point r of the robot is below the plane, the ground pushes it with

    F = -k (r - r_0) - c r'                                             (Hutter 2017, eq. 3.57),

r_0 being where the point touched the plane first. The ground does not pull: the part of F along the
normal is at least zero. The tangential part is at most friction times the normal part; beyond it
the point slides, and r_0 follows it so that the spring has at most the greatest force of friction;
it never stores energy that the motion did not give.

The touch points r_0 are a state: the force depends on where the point was before.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import at_least_zero, check_kind, finite, positive
from dynamics_node.errors import ModelError, shown


@dataclass(frozen=True)
class SoftContact:
    """A point of a link that may touch a plane of the world."""

    name: str
    frame: str                                # link that touches
    stiffness: float                          # k [N/m]
    damping: float = 0.0                      # c [N s/m]
    friction: float = math.inf                # coefficient; inf: the point never slides
    point: ArrayLike = (0.0, 0.0, 0.0)        # in the frame [m]
    normal: ArrayLike = (0.0, 0.0, 1.0)       # of the plane, out of the ground, in world axes
    height: float = 0.0                       # of the plane along the normal [m]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f'the name of a soft contact is {shown(self.name)}; expected a text')
        where = f"soft contact '{self.name}':"
        check_kind(f'{where} frame', self.frame, str)
        numbers = {'stiffness': positive, 'damping': at_least_zero}
        if not (isinstance(self.friction, float) and self.friction == math.inf):
            numbers['friction'] = at_least_zero
        for field, check in numbers.items():
            object.__setattr__(self, field, check(f'{where} {field}', getattr(self, field)))
        object.__setattr__(self, 'height', float(finite(f'{where} height', self.height, ())))
        for field in ('point', 'normal'):
            vector = finite(f'{where} {field}', getattr(self, field), (3,))
            object.__setattr__(self, field, tuple(vector.tolist()))
        if not np.any(self.normal):
            raise ModelError(f'{where} normal is zero; expected a direction')


class SoftForce(NamedTuple):
    """The force of one contact, of one state or of N."""

    force: np.ndarray  # (3,) on the robot, in world axes [N]
    depth: np.ndarray  # () below the plane, negative above it [m]
    touch: np.ndarray  # (3,) touch point r_0 after this state, in the world; nan without contact


def soft_force(contact: SoftContact, r: np.ndarray, velocity: np.ndarray,
               touch: np.ndarray) -> SoftForce:
    """Return the SoftForce on the point of a contact.

    :param r, velocity: position and velocity of the point in the world, (.., 3).
    :param touch: touch point of the state before, (.., 3); nan where there was no contact.
    """
    n = np.array(contact.normal) / np.linalg.norm(contact.normal)
    depth = contact.height - r @ n
    touching = depth > 0.0
    start = np.where(np.isnan(touch), r + depth[..., None] * n, touch)
    normal = np.where(touching, np.maximum(
        0.0, contact.stiffness * depth - contact.damping * (velocity @ n)), 0.0)
    sliding = _across(velocity, n)
    spring = -contact.stiffness * _across(r - start, n)
    greatest = np.where(normal > 0.0, contact.friction, 0.0) * normal
    pull = _limited(spring - contact.damping * sliding, greatest)
    kept = np.where(touching[..., None], pull, 0.0)
    after = r + depth[..., None] * n + _limited(spring, greatest) / contact.stiffness
    return SoftForce(normal[..., None] * n + kept, depth,
                     np.where(touching[..., None], after, np.nan))


def _limited(force: np.ndarray, greatest: float) -> np.ndarray:
    """Return the force, shortened to the greatest one where it is longer."""
    size = np.linalg.norm(force, axis=-1)
    slips = size > greatest
    return np.where(slips, greatest / np.where(slips, size, 1.0), 1.0)[..., None] * force


def _across(vector: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the part of a vector across the normal."""
    return vector - (vector @ n)[..., None] * n
