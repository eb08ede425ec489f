"""Define the targets of inverse kinematics as data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import finite, positive
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.model.configuration import UNIT_QUATERNION
from dynamics_node.spatial import so3
from dynamics_node.spatial.checked_rotation import checked_rotation


class Part(NamedTuple):
    """A position, an orientation or the direction of an axis of a target."""

    kind: str          # 'position', 'orientation' or 'axis'
    numbers: tuple     # as in `goal` of newton_step.py
    weight: float      # [1/m or 1/rad]


@dataclass(frozen=True, eq=False)
class Target:
    """A target of a frame: a pose, or only its position, its orientation, or one of its axes.

    None leaves a part free. The weights matter only if the targets cannot all be reached: then the
    sum of (weight x error)^2 is minimal.
    """

    frame: str
    position: ArrayLike | None = None     # of the frame's origin in the world (3,) [m]
    orientation: ArrayLike | None = None  # quaternion (x, y, z, w), or a rotation matrix (3, 3)
    axis: ArrayLike | None = None         # unit vector in the frame (3,), along `direction`
    direction: ArrayLike | None = None    # unit vector in the world (3,)
    position_weight: float = 1.0          # [1/m]
    rotation_weight: float = 1.0          # of the orientation or the axis [1/rad]
    parts: tuple[Part, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'parts', tuple(self._parts()))

    @classmethod
    def pose(cls, frame: str, matrix: ArrayLike, **weights: Any) -> 'Target':
        """Return the Target of a homogeneous matrix (4, 4), as Robot.frame_pose returns one."""
        T = _array(matrix)
        if T.shape != (4, 4) or T[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
            raise DynamicsError(f'matrix is {shown(matrix, 200)}; expected 4 x 4 numbers, the last '
                                'row 0 0 0 1')
        return cls(frame, T[:3, 3], T[:3, :3], **weights)

    def _parts(self) -> Iterator[Part]:
        """Yield the Parts, checked."""
        if self.orientation is not None and (self.axis is not None or self.direction is not None):
            raise self._wrong('has both an orientation and an axis; expected one of them')
        if (self.axis is None) != (self.direction is None):
            raise self._wrong('needs both axis, in the frame, and direction, in the world')
        if self.position is None and self.orientation is None and self.axis is None:
            raise self._wrong('is empty; expected a position, an orientation or an axis')
        if self.position is not None:
            yield Part('position', tuple(finite('position', self.position, (3,)).tolist()),
                       self._weight('position_weight'))
        if self.orientation is not None:
            yield Part('orientation', tuple(rotation_of(self.orientation).ravel().tolist()),
                       self._weight('rotation_weight'))
        if self.axis is not None:
            axis, direction = _unit('axis', self.axis), _unit('direction', self.direction)
            across = so3.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
            across = across / np.linalg.norm(across)
            yield Part('axis', (*axis.tolist(), *across.tolist(), *direction.tolist()),
                       self._weight('rotation_weight'))

    def _weight(self, name: str) -> float:
        weight = getattr(self, name)
        return weight if type(weight) is float and weight == 1.0 else positive(name, weight)

    def _wrong(self, what: str) -> DynamicsError:
        return DynamicsError(f"the target of frame '{self.frame!s:.80}' {what}")


def parts_of(targets: Sequence[Target]) -> tuple[tuple[str, str], ...]:
    """Return ((frame, kind), ...) of the parts of some targets."""
    return tuple((target.frame, part.kind) for target in targets for part in target.parts)


def rotation_of(orientation: ArrayLike) -> np.ndarray:
    """Return the rotation matrix of a quaternion (x, y, z, w) or of a matrix (3, 3), checked."""
    if getattr(orientation, 'shape', None) == (3, 3) or _array(orientation).shape == (3, 3):
        return checked_rotation('orientation', finite('orientation', orientation, (3, 3)))
    q = finite('orientation', orientation, (4,))
    norm = float(np.linalg.norm(q))
    if not abs(norm - 1.0) <= UNIT_QUATERNION:
        raise DynamicsError(f'orientation is a quaternion of norm {norm:.6g}; expected x y z w of '
                            'norm 1')
    return so3.from_quaternion(q / norm)


def _array(value: ArrayLike) -> np.ndarray:
    """Return a value as an array, empty if NumPy cannot read it."""
    try:
        return np.asarray(value)
    except Exception:  # an object may raise anything when NumPy reads it
        return np.empty(0)


def _unit(name: str, vector: ArrayLike | None) -> np.ndarray:
    vector = finite(name, vector, (3,))
    norm = np.linalg.norm(vector)
    if not abs(norm - 1.0) <= UNIT_QUATERNION:
        raise DynamicsError(f'{name} is of length {norm:.6g}; expected a unit vector')
    return vector / norm
