"""Define the bounds of the whole-body problem as data, and their rows.

Each bound gives rows lower <= G (a, forces) <= upper.
"""

import math
import numbers
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.constrained.constraint import KINDS as CONSTRAINT_KINDS
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.model.model import Model
from dynamics_node.task_space.joint_limits import acceleration_limits
from dynamics_node.task_space.tasks import one_axis_joints
from dynamics_node.task_space.whole_body_setting import Setting, picked

if TYPE_CHECKING:
    from dynamics_node.task_space.whole_body import WholeBodyProblem

KINDS = ('torque', 'acceleration', 'joint_limits', 'friction')
MOST_SIDES = 1000  # of a friction pyramid: differs from the cone by 5e-6


@dataclass(frozen=True, eq=False)
class Bound:
    """One bound. Invalid fields raise a DynamicsError that names the field.

    'torque': |torque| <= `limit`, a number or (nv,); None for the effort limits of the URDF.
    'acceleration': |acceleration| <= `limit`, without those of a floating base.
    'joint_limits': positions and velocities of the one-axis joints stay within the limits of the
        URDF, for a controller of period `step` and decelerations of `limit` [rad/s^2 or m/s^2].
    'friction': contacts push and do not slide: a pyramid of `sides` inside the friction cone, for
        contacts of known friction; the centre of pressure stays on soles with given half `sizes`.
    """

    kind: str
    limit: ArrayLike | None = None
    step: float = math.nan                      # [s]
    sides: int = 4
    # contact -> (half length, half width) of a flat one, half length of a line [m]
    sizes: dict[str, ArrayLike] = field(default_factory=dict)
    level: int = 0                              # 0: strict; 1, 2 ...: least squares, 1 first

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise DynamicsError(f'a bound is of kind {shown(self.kind)}; expected one of: '
                                f'{", ".join(KINDS)}')
        if not isinstance(self.level, numbers.Integral) or self.level < 0:
            self._refuse('level', self.level, '0 (strict), or 1, 2, 3 ...')
        if self.kind == 'joint_limits' and not (isinstance(self.step, numbers.Real)
                                                and 0.0 < self.step < math.inf):
            self._refuse('step', self.step, 'the period of the controller [s]')
        if not isinstance(self.sides, numbers.Integral) or not 3 <= self.sides <= MOST_SIDES:
            self._refuse('sides', self.sides, f'at least 3, at most {MOST_SIDES}')
        if self.limit is None and self.kind in ('acceleration', 'joint_limits'):
            self._refuse('limit', None, 'a positive number, or (nv,)')
        if not isinstance(self.sizes, dict):
            self._refuse('sizes', self.sizes, 'a dict {contact: half sizes [m]}')
        for name in ('limit', 'sizes'):  # copies, since results of them are cached
            object.__setattr__(self, name, self._copy(name))

    def _copy(self, name: str) -> Any:
        try:
            return deepcopy(getattr(self, name))
        except Exception:  # a generator has no copy
            return self._refuse(name, getattr(self, name), 'numbers')

    def _refuse(self, what: str, value: object, valid: str) -> NoReturn:
        """Raise the DynamicsError that names this bound."""
        raise DynamicsError(f"bound '{self.kind}': {what} is {shown(value)}; expected {valid}")

    def _limits(self, nv: int) -> np.ndarray:
        """Return `limit` for every degree of freedom, (nv,)."""
        try:
            limits = np.empty(nv)
            limits[:] = self.limit
        except Exception:  # an object may raise anything when NumPy reads it
            limits = np.full(nv, math.nan)
        if not (limits > 0.0).all() or (self.kind == 'joint_limits' and np.isinf(limits).any()):
            self._refuse('limit', self.limit, f'a positive number, or {nv} of them')
        return limits


class BoundRows(NamedTuple):
    """Rows of one bound; infinite limits mean no limit."""

    names: list        # of each row, for messages
    G: np.ndarray      # (m, n)
    lower: np.ndarray  # (m,)
    upper: np.ndarray  # (m,)


def bound_rows(bound: Bound, problem: 'WholeBodyProblem') -> BoundRows:
    """Return the BoundRows of a bound; problem: the WholeBodyProblem."""
    if bound.kind in _OF_STATE:
        return _OF_STATE[bound.kind](bound, problem)
    return constant_rows(bound, problem.setting)


def constant_rows(bound: Bound, setting: Setting) -> BoundRows:
    """Return the BoundRows of a bound that does not depend on the state."""
    return _CONSTANT[bound.kind](bound, setting)


def _torque(bound: Bound, problem: 'WholeBodyProblem') -> BoundRows:
    names, limit = torque_limits(bound, problem.setting)
    at_rest = problem.torque_at_rest
    return BoundRows(names, problem.torque, -limit - at_rest, limit - at_rest)


def _joint_limits(bound: Bound, problem: 'WholeBodyProblem') -> BoundRows:
    names, G, brake = joint_limit_rows(bound, problem.setting)
    joints = one_axis_joints(problem.setting.model)
    return BoundRows(names, G, *acceleration_limits(
        problem.q[joints.q], problem.v[joints.v], joints.lower, joints.upper, joints.max_velocity,
        brake, float(bound.step)))


# Independent of the state --------------------------------------------------------------------


@lru_cache(maxsize=256)
def torque_limits(bound: Bound, setting: Setting) -> tuple[list[str], np.ndarray]:
    """Return (names, limits) of the actuated degrees of freedom."""
    names, efforts = _dofs(setting.model)
    limit = efforts if bound.limit is None else bound._limits(setting.model.nv)
    return [f'torque of {names[k]}' for k in setting.actuated], limit[setting.actuated]


@lru_cache(maxsize=256)
def joint_limit_rows(bound: Bound, setting: Setting) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return (names, rows that select the accelerations, decelerations) of one-axis joints."""
    joints = one_axis_joints(setting.model)
    return ([f'limits of {name}' for name in joints.place], picked(joints.v, setting.size),
            bound._limits(setting.model.nv)[joints.v])


@lru_cache(maxsize=256)
def _acceleration(bound: Bound, setting: Setting) -> BoundRows:
    limit = bound._limits(setting.model.nv)
    names, _ = _dofs(setting.model)
    which = [k for joint in setting.model.joints if joint.kind != 'floating'
             for k in range(joint.v.start, joint.v.stop)]
    return BoundRows([f'acceleration of {names[k]}' for k in which],
                     picked(which, setting.size), -limit[which], limit[which])


@lru_cache(maxsize=256)
def _friction(bound: Bound, setting: Setting) -> BoundRows:
    contacts = [constraint for constraint in setting.constraints if constraint.is_contact]
    known = [contact.name for contact in contacts]
    for name in bound.sizes:
        if name not in known:
            bound._refuse('sizes', bound.sizes, f'contacts: {", ".join(known) or "none"}')
    names, blocks = [], [np.zeros((0, setting.size))]
    for contact in contacts:
        cone = _cone(contact.kind, tuple(contact.axis), contact.friction, bound.sides,
                     _half(bound, contact))
        block = np.zeros((len(cone), setting.size))
        block[:, setting.force_slices[contact.name]] = cone
        blocks.append(block)
        names += [f'friction of {contact.name}'] * len(cone)
    G = np.concatenate(blocks)
    return BoundRows(names, G, np.full(len(G), -np.inf), np.zeros(len(G)))


def _half(bound: Bound, constraint: Constraint) -> tuple[float, ...]:
    half = bound.sizes.get(constraint.name)
    if half is None:
        return ()
    size = {'line_contact': 1, 'flat_contact': 2}.get(constraint.kind, 0)
    half = np.ravel(half)
    if half.dtype.kind not in 'fiu' or half.shape != (size,) or not (half > 0.0).all():
        bound._refuse('sizes', bound.sizes, f"{size} positive numbers for '{constraint.name}'")
    return tuple(map(float, half))


@lru_cache(maxsize=256)
def _cone(kind: str, axis: tuple[float, ...], friction: float, sides: int, half: tuple[float, float]
          ) -> np.ndarray:
    """Return the rows C with C force <= 0, (k, m); z is the normal."""
    m = CONSTRAINT_KINDS[kind]
    push = np.zeros((1, m))
    push[0, 2] = -1.0
    rows = [push]
    if not math.isnan(friction):
        angles = 2.0 * math.pi / sides * np.arange(sides)
        sliding = np.zeros((sides, m))
        sliding[:, 0], sliding[:, 1] = np.cos(angles), np.sin(angles)
        sliding[:, 2] = -friction * math.cos(math.pi / sides)
        rows.append(sliding)
    if half:
        rows.append(_on_the_sole(kind, axis, half))
    return np.concatenate(rows)


def _on_the_sole(kind: str, axis: tuple[float, ...], half: tuple[float, ...]) -> np.ndarray:
    """Return rows that keep the centre of pressure (-m_y, m_x) / f_z within the half sizes."""
    if kind == 'flat_contact':
        moments = np.zeros((2, 6))
        moments[0, 4], moments[1, 3] = -1.0, 1.0
    else:  # along the line; the rows of its moments are about `across`
        line = Constraint('line', kind, 'frame', axis=axis)
        along, across = line.direction, line.across
        moments = np.zeros((1, 5))
        moments[0, 3:] = across[:, 0] * along[1] - across[:, 1] * along[0]
    push = np.zeros_like(moments)
    push[:, 2] = half
    return np.concatenate([moments - push, -moments - push])


@lru_cache(maxsize=64)
def _dofs(model: Model) -> tuple[list[str], np.ndarray]:
    """Return (names, effort limits) of the degrees of freedom, inf where the URDF has none."""
    names = [joint.name for joint in model.joints for _ in range(joint.v.start, joint.v.stop)]
    return names, np.where(np.isnan(model.max_effort), np.inf, model.max_effort)


_OF_STATE = {'torque': _torque, 'joint_limits': _joint_limits}
_CONSTANT = {'acceleration': _acceleration, 'friction': _friction}
DEFAULT_BOUNDS = (Bound('torque'), Bound('friction'))
