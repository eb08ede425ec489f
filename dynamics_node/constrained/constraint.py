"""Define constraints as data: kinds, fields, rows and their validation.

A constraint connects a frame of the robot, frame 2, to another link or to the world, frame 1. Each
may be offset in its link by a pose, the closure. All rows are in the axes of frame 1's closure, at
the origin of frame 2's closure.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from dynamics_node.constrained.expression import check_expression, function_of
from dynamics_node.constrained.field_checks import IN_PLANE, SHORTEST, checked_field, refuse, short
from dynamics_node.errors import DynamicsError
from dynamics_node.model.configuration import coordinate_places
from dynamics_node.model.model import WORLD_NAME, Model, frame_of
from dynamics_node.spatial import se3, so3
from dynamics_node.spatial.se3 import Pose

_LINEAR, _ANGULAR, _ACROSS = ('x', 'y', 'z'), ('rx', 'ry', 'rz'), ('r1', 'r2')
_ROLLING = ('s1', 's2', 'n')
# kind -> its rows. x y z and rx ry rz are along and about frame 1's closure axes, n is along the
# `axis`, s1 and s2 are along, r1 and r2 about two directions across it.
ROWS = {
    'weld': _LINEAR + _ANGULAR,
    'revolute': _LINEAR + _ACROSS,
    'spherical': _LINEAR,
    'point_on_plane': ('n',),
    'planar': ('n', *_ACROSS),
    'distance': ('distance',),
    'screw': ('s1', 's2', 'screw', *_ACROSS),
    'rolling_wheel': _ROLLING,
    'rolling_ball': _ROLLING,
    'coupling': ('coupling',),
    'expression': ('expression',),
    'point_contact': _LINEAR,
    'line_contact': _LINEAR + _ACROSS,
    'flat_contact': _LINEAR + _ANGULAR,
}
KINDS = {kind: len(rows) for kind, rows in ROWS.items()}  # kind -> number of rows
CONTACTS = ('point_contact', 'line_contact', 'flat_contact')
ROLLING = ('rolling_wheel', 'rolling_ball')
BETWEEN_COORDINATES = ('coupling', 'expression')  # of joints; all others are between links

_FRAMES = ('frame', 'to', 'pose', 'to_pose')
# kind -> its fields, besides name and kind
FIELDS = {
    'weld': _FRAMES,
    'revolute': (*_FRAMES, 'axis'),
    'spherical': _FRAMES,
    'point_on_plane': (*_FRAMES, 'axis', 'distance'),
    'planar': (*_FRAMES, 'axis', 'distance'),
    'distance': (*_FRAMES, 'distance'),
    'screw': (*_FRAMES, 'axis', 'pitch'),
    'rolling_wheel': (*_FRAMES, 'axis', 'radius', 'axle'),
    'rolling_ball': (*_FRAMES, 'axis', 'radius'),
    'coupling': ('joints', 'ratio', 'offset'),
    'expression': ('joints', 'expression'),
    'point_contact': (*_FRAMES, 'friction'),
    'line_contact': (*_FRAMES, 'axis', 'friction'),
    'flat_contact': (*_FRAMES, 'friction'),
}

Vector: TypeAlias = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class Constraint:
    """One constraint. Invalid fields raise a DynamicsError that names the field.

    A pose is (x, y, z), (x, y, z, roll, pitch, yaw) or (x, y, z, qx, qy, qz, qw) [m, rad]; it is
    stored as the last. A contact without `to_pose` constrains frame 2 at its current place, in the
    axes of `to`, whose z is the normal.
    """

    name: str
    kind: str                      # one of KINDS
    frame: str = ''                # frame 2, the constrained link
    to: str = WORLD_NAME           # frame 1, the link it is connected to, or the world
    pose: Vector = ()              # of the closure in `frame`; () is the identity
    to_pose: Vector = ()           # of the closure in `to`; (): identity, for contacts no anchor
    axis: Vector = (0.0, 0.0, 1.0)  # hinge, screw, normal of the plane, or line, in frame 1's
    #                                closure axes
    distance: float = 0.0          # between the origins, or of the plane along its normal [m]
    joints: Sequence[str] = ()     # (i, j) of a coupling: q_i = ratio q_j + offset; those of an
    #                                expression: q1, q2, ... and v1, v2, ... are theirs
    ratio: float = 1.0
    offset: float = 0.0            # [rad or m]
    friction: float = math.nan     # coefficient of a contact; nan = unknown
    pitch: float = 0.0             # of a screw per turn, negative for a left-hand thread [m]
    radius: float = 0.0            # of a wheel or ball, whose centre is frame 2's closure [m]
    axle: Vector = (0.0, 1.0, 0.0)  # of a wheel, in frame 2's closure axes
    expression: str | Callable = ''  # zero where satisfied: see constrained/expression.py, or
    #                                a function f(q) or f(q, v) of the joints' values, (k,) each

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in list(KINDS):
            refuse(self.name, 'kind', f'is {short(self.kind)}', f'one of: {", ".join(KINDS)}')
        object.__setattr__(self, 'kind', str(self.kind))
        read = FIELDS[self.kind]
        for field in fields(self):
            if field.name != 'kind':
                value = checked_field(self.name, field.name, getattr(self, field.name))
                object.__setattr__(self, field.name, value)  # the dataclass is frozen
                if field.name not in ('name', *read) and value not in (field.default,):
                    refuse(self.name, field.name, f'is {short(value)}, but {self.kind} has none',
                           f'only: {", ".join(read)}')
        self._check_sense()

    def _check_sense(self) -> None:
        if self.kind in BETWEEN_COORDINATES and not self.joints:
            refuse(self.name, 'joints', 'is missing', 'the names of joints')
        if self.kind == 'coupling' and len(self.joints) != 2:
            refuse(self.name, 'joints', f'is {short(self.joints)}', 'the names of two joints: q_i '
                   'of the first = ratio q_j + offset')
        if self.kind == 'expression':
            self._check_expression()
        if self.kind not in BETWEEN_COORDINATES and not self.frame:
            refuse(self.name, 'frame', 'is missing', 'the name of a link')
        if self.kind in ROLLING and self.radius < SHORTEST:
            refuse(self.name, 'radius', f'is {self.radius}', 'a positive number')
        if self.kind == 'screw' and abs(self.pitch) < SHORTEST:
            refuse(self.name, 'pitch', f'is {self.pitch}', 'a number other than zero; without '
                   'translation use revolute')
        if self.kind == 'distance' and self.distance < SHORTEST:
            refuse(self.name, 'distance', f'is {self.distance}', 'a positive number; to connect a '
                   'point to a point use spherical')
        if self.kind == 'line_contact' and abs(self.direction[2]) > IN_PLANE:
            refuse(self.name, 'axis', f'is {self.axis}', 'the direction of the line, in the plane '
                   'of contact: across z, the normal')

    def _check_expression(self) -> None:
        try:
            check_expression(self.expression, len(self.joints))
        except ValueError as error:
            refuse(self.name, 'expression', f'is {short(self.expression)}', str(error))

    def __reduce__(self) -> tuple:
        return Constraint, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def placement(self) -> Pose:
        """The Pose of the closure in `frame`."""
        return _placed(tuple(self.pose))

    @property
    def to_placement(self) -> Pose:
        """The Pose of the closure in `to`."""
        return _placed(tuple(self.to_pose))

    @property
    def direction(self) -> np.ndarray:
        """The unit vector along `axis`, (3,)."""
        return np.array(self.axis) / np.linalg.norm(self.axis)

    @property
    def axle_direction(self) -> np.ndarray:
        """The unit vector along `axle`, (3,)."""
        return np.array(self.axle) / np.linalg.norm(self.axle)

    @property
    def lead(self) -> float:
        """Translation of a screw per angle [m/rad]."""
        return self.pitch / (2.0 * math.pi)

    @property
    def function(self) -> tuple[Callable, bool]:
        """(f(q), False) or (f(q, v), True) of an expression."""
        return function_of(self.expression, len(self.joints))

    @property
    def across(self) -> np.ndarray:
        """Two unit vectors normal to the axis and to each other: r1 x r2 is the axis, (2, 3)."""
        axis = self.direction
        next_one = np.eye(3)[(np.argmax(np.abs(axis)) + 1) % 3]
        first = next_one - axis * (axis @ next_one)
        first = first / np.linalg.norm(first)
        return np.array([first, so3.cross(axis, first)]) + 0.0  # + 0.0: no negative zeros

    @property
    def directions(self) -> tuple[np.ndarray, np.ndarray]:
        """Directions of translation and of rotation of the rows, in frame 1's axes, (m, 3) each.

        A row restricts linear @ u' + angular @ w. Not of a distance, whose direction varies, and
        without the rotation of rolling.
        """
        return _directions(self)

    @property
    def is_contact(self) -> bool:
        """Whether it is a contact: unilateral, with friction."""
        return self.kind in CONTACTS

    @property
    def is_unanchored(self) -> bool:
        """Whether it is a contact without anchor: frame 2 may be anywhere, the residual is zero."""
        return self.is_contact and not self.to_pose


@lru_cache(maxsize=1024)
def _placed(pose: Vector) -> Pose:
    if not pose:
        return se3.IDENTITY
    quaternion = np.array(pose[3:])
    R = so3.from_quaternion(quaternion / np.linalg.norm(quaternion))
    nearest = np.round(R)  # right angles are exact, as those of a URDF
    R = np.where(np.abs(R - nearest) <= se3.ROUNDING, nearest, R) + 0.0
    p = np.array(pose[:3])
    for array in (R, p):
        array.flags.writeable = False  # cached: all callers share it
    return Pose(R, p)


@lru_cache(maxsize=1024)
def _directions(constraint: Constraint) -> tuple[np.ndarray, np.ndarray]:
    axis, (first, second), none = constraint.direction, constraint.across, np.zeros(3)
    known = {'n': (axis, none), 's1': (first, none), 's2': (second, none),
             'r1': (none, first), 'r2': (none, second),
             'screw': (axis, -constraint.lead * axis)}
    for name, rotation, unit in zip(_LINEAR, _ANGULAR, np.eye(3)):
        known |= {name: (unit, none), rotation: (none, unit)}
    linear, angular = (np.array(part) + 0.0  # + 0.0: no negative zeros
                       for part in zip(*(known[row] for row in ROWS[constraint.kind])))
    linear.flags.writeable = angular.flags.writeable = False  # cached: all callers share them
    return linear, angular


def size(constraint: Constraint) -> int:
    """Return the number of rows of a constraint."""
    return KINDS[constraint.kind]


def row_names(constraints: Sequence[Constraint]) -> list[str]:
    """Return the name of each row: ['knee.x', 'knee.y', ..., 'knee.rx', ...]."""
    return [f'{constraint.name}.{row}' for constraint in constraints
            for row in ROWS[constraint.kind]]


def holonomic_rows(constraints: Sequence[Constraint]) -> np.ndarray:
    """Return whether each row restricts configurations, not velocities alone, (m,).

    The sliding rows of rolling and expressions of velocities do not.
    """
    return np.array([not (constraint.kind in ROLLING and row != 'n'
                          or constraint.kind == 'expression' and constraint.function[1])
                     for constraint in constraints for row in ROWS[constraint.kind]], dtype=bool)


def validate(model: Model, constraints: Sequence[Constraint]) -> None:
    """Raise a DynamicsError where the constraints do not fit the robot.

    It names the constraint, the field and the valid values: an unknown link or joint, two
    constraints of one name, both frames on one body, a coupling of joints with several coordinates,
    an expression with a floating joint.
    """
    names = set()
    for constraint in constraints:
        if not isinstance(constraint, Constraint):
            raise DynamicsError(f'constraints has {short(constraint)}; expected Constraint objects')
        if constraint.name in names:
            raise DynamicsError(f"two constraints are called '{constraint.name}'; each needs a "
                                'name of its own')
        names.add(constraint.name)
        if constraint.kind in BETWEEN_COORDINATES:
            _check_joints(model, constraint)
        else:
            _check_links(model, constraint)


def coordinates_of(model: Model, constraint: Constraint) -> list[tuple[int, int]]:
    """Return the (entry of q, entry of v) of each of the joints of a constraint."""
    places = coordinate_places(model)
    return [places[name] for name in constraint.joints]


def _check_joints(model: Model, constraint: Constraint) -> None:
    valid = [*coordinate_places(model)]
    if constraint.kind == 'coupling':
        valid = [joint.name for joint in model.joints if joint.v.stop - joint.v.start == 1]
    for name in constraint.joints:
        if name not in valid:
            known = name in [joint.name for joint in model.joints]
            why = 'has more than one coordinate' if known else 'is unknown, fixed or mimic'
            count = 'two of' if constraint.kind == 'coupling' else 'some of'
            refuse(constraint.name, 'joints', f"has '{name}', which {why}",
                   f'{count}: {", ".join(valid) or "none"}')


def _check_links(model: Model, constraint: Constraint) -> None:
    links = ', '.join(model.frames)
    if constraint.frame not in model.frames:
        refuse(constraint.name, 'frame', f"is '{constraint.frame}'", f'a link: {links}')
    if constraint.to != WORLD_NAME and constraint.to not in model.frames:
        refuse(constraint.name, 'to', f"is '{constraint.to}'", f'{WORLD_NAME} or a link: {links}')
    if frame_of(model, constraint.to).body == model.frame(constraint.frame).body:
        refuse(constraint.name, 'to', f"is '{constraint.to}', which '{constraint.frame}' is fixed "
               'to already', 'a link that it moves against')
