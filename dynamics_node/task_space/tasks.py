"""Define the tasks of the whole-body problem as data, and their equations.

A task prescribes accelerations, contact forces or torques: A (a, forces) = b (Hutter 2017,
eq. 3.110-3.112).
"""

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from dynamics_node.checks import LARGEST
from dynamics_node.errors import DynamicsError, UnknownName, shown
from dynamics_node.model.configuration import UNIT_QUATERNION
from dynamics_node.model.model import Model
from dynamics_node.spatial import so3
from dynamics_node.task_space.whole_body_setting import Setting, picked

if TYPE_CHECKING:
    from dynamics_node.task_space.whole_body import WholeBodyProblem

AXES = ('x', 'y', 'z', 'rx', 'ry', 'rz')
TURN = 2.0 * math.pi
_MOTION = ('position', 'velocity', 'acceleration', 'stiffness', 'damping')
# kind -> its fields, besides name, kind, level and weight
FIELDS = {
    'frame': ('frame', 'axes', *_MOTION),
    'center_of_mass': ('axes', *_MOTION),
    'posture': ('joints', *_MOTION),
    'force': ('contact', 'value'),
    'torque': ('value',),
}

Vector: TypeAlias = Sequence[float] | np.ndarray


@dataclass(frozen=True, eq=False)
class Task:
    r"""One task. Invalid fields raise a DynamicsError that names the task and the field.

    Its acceleration is  acceleration + damping (velocity - v) + stiffness (position - p)
    (Hutter 2017, eq. 3.90), in world axes; the error of a rotation is its rotation vector.

    'frame': position is (x, y, z, qx, qy, qz, qw), the others (6,), linear first.
    'center_of_mass': (3,) each.
    'posture': one number for each of the one-axis `joints`; all of them if empty.
    'force': `value` on the robot at a contact, in its rows; contact '' means all, value () zero.
    'torque': `value` (nv,), read at actuated joints; () means zero: least torque.

    Without position the stiffness is not used. Without velocity or acceleration these are zero.
    """

    name: str
    kind: str                    # one of FIELDS
    level: int = 1               # 0: strict; 1, 2, 3 ...: priorities, 1 first
    weight: float = 1.0          # of its squared error, relative to others of its level
    frame: str = ''              # link
    axes: Sequence[str] = ()             # some of AXES; () for all
    joints: Sequence[str] = ()   # names
    contact: str = ''            # name of a constraint
    position: Vector = ()  # [m, rad]
    velocity: Vector = ()  # [m/s, rad/s]
    acceleration: Vector = ()  # [m/s^2, rad/s^2]
    value: Vector = ()  # [N, N m]
    stiffness: float = 100.0     # [1/s^2]
    damping: float = math.nan    # [1/s]; nan: 2 sqrt(stiffness), no overshoot

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise DynamicsError(f'a task needs a name, got {shown(self.name)}')
        if not isinstance(self.kind, str) or self.kind not in list(FIELDS):
            self._refuse('kind', f'is {shown(self.kind)}', f'one of: {", ".join(FIELDS)}')
        self._keep('kind', str(self.kind))
        for field in fields(self)[4:]:
            value = getattr(self, field.name)
            is_default = value is field.default or (
                type(value) is type(field.default) and value == field.default)
            if field.name not in FIELDS[self.kind] and not is_default:
                self._refuse(field.name, f'is given, but a task of kind {self.kind} has none',
                             f'only: {", ".join(FIELDS[self.kind])}')
        if not isinstance(self.level, numbers.Integral) or self.level < 0:
            self._refuse('level', f'is {shown(self.level)}', '0 (strict), or 1, 2, 3 ...')
        for name in ('weight', 'stiffness'):
            self._keep(name, self._number(name))
        damping = self.damping
        if isinstance(damping, float) and math.isnan(damping):
            self._keep('damping', 2.0 * math.sqrt(self.stiffness))
        self._keep('damping', self._number('damping'))
        for name in ('position', 'velocity', 'acceleration', 'value'):
            self._keep(name, self._vector(name))
        for name in ('frame', 'contact'):
            if not isinstance(getattr(self, name), str):
                self._refuse(name, f'is {shown(getattr(self, name))}', 'a name')
        for name in ('axes', 'joints'):
            self._keep(name, self._names(name))
        self._check_axes()
        if self.kind == 'frame':
            self._check_pose()

    def _refuse(self, field: str, what: str, valid: str) -> NoReturn:
        """Raise the DynamicsError that names this task."""
        raise DynamicsError(f"task '{self.name}': {field} {what}; expected {valid}")

    def _sized(self, name: str, size: int) -> np.ndarray:
        """Return a vector field, (size,), zeros where it is not given."""
        value = getattr(self, name)
        if value.shape == (size,):
            return value
        if not len(value):
            return np.zeros(size)
        return self._refuse(name, f'has {len(value)} numbers', f'{size}, or none')

    @cached_property
    def rotation(self) -> np.ndarray:
        """Rotation matrix of the position of a 'frame' task, (3, 3)."""
        return so3.from_quaternion(self.position[3:])

    @cached_property
    def structure(self) -> tuple:
        """Constants of a kernel: name, kind, level, frame, axes, joints, contact."""
        return (self.name, self.kind, int(self.level), self.frame, self.axes, self.joints,
                self.contact)

    def _keep(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)  # the dataclass is frozen

    def _number(self, name: str) -> float:
        value = getattr(self, name)
        if (not isinstance(value, numbers.Real) or isinstance(value, bool)
                or not 0.0 <= value <= LARGEST):   # type: ignore[operator]
            self._refuse(name, f'is {shown(value)}', 'a number that is not negative')
        return float(value)

    def _vector(self, name: str) -> np.ndarray:
        value: np.ndarray | None
        try:
            given = np.asarray(getattr(self, name))
            value = np.array(given, dtype=float) if given.dtype.kind in 'fiu' else None
        except Exception:  # an object may raise anything when NumPy reads it
            value = None
        if value is None or value.ndim != 1 or not np.isfinite(value).all():
            self._refuse(name, f'is {shown(getattr(self, name))}', 'a row of finite numbers')
        value.flags.writeable = False
        return value

    def _names(self, name: str) -> tuple[str, ...]:
        value = getattr(self, name)
        if not isinstance(value, (tuple, list)) or not all(isinstance(x, str) for x in value):
            self._refuse(name, f'is {shown(value)}', 'a list of names')
        return tuple(value)

    def _check_axes(self) -> None:
        valid = AXES if self.kind == 'frame' else AXES[:3]
        for axis in self.axes:
            if axis not in valid:
                self._refuse('axes', f'has {shown(axis)}', f'some of: {", ".join(valid)}')
        if len(set(self.axes)) < len(self.axes):
            self._refuse('axes', f'is {self.axes}', 'each axis once')

    def _check_pose(self) -> None:
        if not self.frame:
            self._refuse('frame', 'is missing', 'the name of a link')
        if not len(self.position):
            return
        quaternion = self._sized('position', 7)[3:]
        norm = np.linalg.norm(quaternion)
        if not abs(norm - 1.0) <= UNIT_QUATERNION:
            self._refuse('position', f'has a quaternion of norm {norm:.6g}', 'x y z w of norm 1')
        pose = np.concatenate([self.position[:3], quaternion / norm])
        pose.flags.writeable = False
        self._keep('position', pose)


class TaskEquations(NamedTuple):
    """The equations of a task, A x = b with x = (a, forces)."""

    A: np.ndarray
    b: np.ndarray

    def times(self, factor: float) -> 'TaskEquations':
        return TaskEquations(factor * self.A, factor * self.b)


def task_rows(task: Task, problem: 'WholeBodyProblem') -> TaskEquations:
    """Return the TaskEquations of a task.

    :param problem: the WholeBodyProblem: robot, state, constraints and actuation.
    """
    try:
        return _OF_KIND[task.kind](task, problem)
    except UnknownName as error:
        raise DynamicsError(f"task '{task.name}': {error}") from None


def _frame(task: Task, problem: 'WholeBodyProblem') -> TaskEquations:
    robot, q, v = problem.robot, problem.q, problem.v
    J = robot.jacobian(q, task.frame)
    error = None
    if len(task.position):
        pose = robot.frame_pose(q, task.frame)
        error = np.empty(6)
        error[:3] = task.position[:3] - pose[:3, 3]
        error[3:] = so3.log(task.rotation @ pose[:3, :3].T)
    bias = robot.jacobian_rate(q, v, task.frame) @ v
    return _axis_rows(task.axes, AXES, problem, J, _wanted(task, error, J @ v) - bias)


def _center_of_mass(task: Task, problem: 'WholeBodyProblem') -> TaskEquations:
    motion = problem.robot.center_of_mass_motion(problem.q, problem.v)
    error = task._sized('position', 3) - motion.position if len(task.position) else None
    b = _wanted(task, error, motion.jacobian @ problem.v) - motion.bias_acceleration
    return _axis_rows(task.axes, AXES[:3], problem, motion.jacobian, b)


def _posture(task: Task, problem: 'WholeBodyProblem') -> TaskEquations:
    in_q, in_v, endless, A = _joint_rows(task.joints, problem.setting)
    error = task._sized('position', len(A)) - problem.q[in_q] if len(task.position) else None
    if error is not None and endless.size:  # continuous joints: the shorter way
        error[endless] -= TURN * np.round(error[endless] / TURN)
    return TaskEquations(A, _wanted(task, error, problem.v[in_v]))


def _wanted(task: Task, error: np.ndarray | None, velocity: np.ndarray) -> np.ndarray:
    """Return acceleration + damping (velocity - v) + stiffness error, eq. 3.90."""
    b = -task.damping * velocity
    if error is not None:
        b += task.stiffness * error
    if len(task.velocity):
        b += task.damping * task._sized('velocity', len(b))
    if len(task.acceleration):
        b += task._sized('acceleration', len(b))
    return b


def _axis_rows(some: Sequence[str], axes: Sequence[str], problem: 'WholeBodyProblem', J: np.ndarray,
               b: np.ndarray) -> TaskEquations:
    """Return the TaskEquations of J a = b, for some of the axes if any are named."""
    if some:
        which = [axes.index(axis) for axis in some]
        J, b = J[which], b[which]
    A = np.zeros((len(J), problem.setting.size))
    A[:, :J.shape[1]] = J
    return TaskEquations(A, b)


def _force(task: Task, problem: 'WholeBodyProblem') -> TaskEquations:
    if task.contact and task.contact not in problem.setting.force_slices:
        task._refuse('contact', f"is '{task.contact}'",
                     f'one of: {", ".join(problem.setting.force_slices) or "none"}')
    A = _force_rows(task.contact, problem.setting)
    return TaskEquations(A, task._sized('value', len(A)))


def _torque(task: Task, problem: 'WholeBodyProblem') -> TaskEquations:
    b = -problem.torque_at_rest
    if len(task.value):
        b += task._sized('value', len(problem.v))[problem.setting.actuated]
    return TaskEquations(problem.torque, b)


@lru_cache(maxsize=256)
def _joint_rows(names: Sequence[str], setting: Setting) -> tuple[np.ndarray, ...]:
    """Return (indices in q, in v, which are continuous, rows of accelerations) of joints."""
    known = one_axis_joints(setting.model)
    for name in names:
        if name not in known.place:
            raise UnknownName('joint', name, known.place)
    which = [known.place[name] for name in names] if names else slice(None)
    return (known.q[which], known.v[which], np.flatnonzero(known.endless[which]),
            picked(known.v[which], setting.size))


@lru_cache(maxsize=256)
def _force_rows(contact: str, setting: Setting) -> np.ndarray:
    """Return the rows that select the forces at a contact, at all contacts for ''."""
    forces = setting.force_slices[contact] if contact else slice(setting.model.nv, None)
    return picked(np.arange(setting.size)[forces], setting.size)


_OF_KIND = {'frame': _frame, 'center_of_mass': _center_of_mass, 'posture': _posture,
            'force': _force, 'torque': _torque}


class OneAxisJoints(NamedTuple):
    """The joints of one degree of freedom and their limits."""

    place: dict               # name -> index in the following arrays
    q: np.ndarray             # (n,) indices in q
    v: np.ndarray             # (n,) indices in v
    lower: np.ndarray         # (n,) limits [rad or m]
    upper: np.ndarray
    max_velocity: np.ndarray  # (n,) inf where unknown
    endless: np.ndarray       # (n,) continuous and without mimic joints: a full turn is the same


@lru_cache(maxsize=64)
def one_axis_joints(model: Model) -> OneAxisJoints:
    """Return the OneAxisJoints of a model."""
    joints = [joint for joint in model.joints if joint.v.stop - joint.v.start == 1]
    speed = np.array([joint.max_velocity for joint in joints], dtype=float)
    return OneAxisJoints({joint.name: k for k, joint in enumerate(joints)},
                         np.array([joint.q.start for joint in joints], dtype=int),
                         np.array([joint.v.start for joint in joints], dtype=int),
                         np.array([joint.lower for joint in joints], dtype=float),
                         np.array([joint.upper for joint in joints], dtype=float),
                         np.where(np.isnan(speed), np.inf, speed),
                         np.array([joint.kind == 'continuous' and not joint.mimics
                                   for joint in joints], dtype=bool))
