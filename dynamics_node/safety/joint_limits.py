"""Collect the limits of every joint: from the URDF, or given by the user."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynamics_node.checks import check_sequence, finite, mapping
from dynamics_node.errors import DynamicsError, UnknownName, shown
from dynamics_node.model.model import JointInfo
from dynamics_node.robot.arguments import check_robot
from dynamics_node.robot.robot import Robot
from dynamics_node.safety.settings import LARGEST


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits of every degree of freedom, in the order of v; nan = unknown."""

    names: tuple[str, ...]  # of the entries of v
    nq: int
    position: np.ndarray    # (nv,) int, which entry of q
    driven: np.ndarray      # (nv,) bool: actuated; nothing is released for the others
    turning: np.ndarray     # (nv,) bool: continuous, a full turn changes nothing
    lower: np.ndarray       # (nv,) [rad or m], -inf = none
    upper: np.ndarray       # (nv,) [rad or m], inf = none
    velocity: np.ndarray    # (nv,) [rad/s or m/s]
    effort: np.ndarray      # (nv,) [N m or N]
    slew: np.ndarray        # (nv,) [N m/s or N/s], nan = derived from the effort limit

    @property
    def nv(self) -> int:
        """The number of degrees of freedom."""
        return len(self.names)


def limits_of(robot: Robot, joints: Sequence[str] | None = None,
              effort: Mapping[str, float] | None = None, slew: Mapping[str, float] | None = None,
              velocity: Mapping[str, float] | None = None,
              position: Mapping[str, tuple[float, float]] | None = None) -> JointLimits:
    """Return the JointLimits of a robot.

    :param joints: names of the actuated joints; None: all of one degree of freedom.
    :param effort: {joint: limit} instead of the URDF's [N m or N].
    :param velocity: {joint: limit} instead of the URDF's [rad/s or m/s].
    :param slew: {joint: limit} of the change of effort [N m/s or N/s].
    :param position: {joint: (lower, upper)} instead of the URDF's [rad or m].
    :raise DynamicsError: an unknown joint, one that cannot be actuated, or an invalid limit.
    """
    places = [(joint, k) for joint in check_robot(robot).model.joints
              for k in range(joint.v.stop - joint.v.start)]
    single = {joint.name: joint.v.start for joint in robot.model.joints
              if joint.kind not in ('planar', 'floating')}

    def column(value: Callable[[JointInfo], float]) -> np.ndarray:
        return np.array([value(joint) for joint, _ in places], dtype=float)

    driven = np.zeros(len(places), dtype=bool)
    for name in single if joints is None else check_sequence('joints', joints):
        driven[_place(single, name)] = True
    lower, upper = column(lambda joint: joint.lower), column(lambda joint: joint.upper)
    for name, pair in _by_joint('position', position).items():
        k = _place(single, name)
        lower[k], upper[k] = _range(name, pair)
    return JointLimits(
        robot.dof_names, robot.nq, np.array([joint.q.start + k for joint, k in places], dtype=int),
        driven, np.array([joint.kind == 'continuous' for joint, _ in places], dtype=bool),
        lower, upper,
        _with('velocity', column(lambda joint: joint.max_velocity), velocity, single),
        _with('effort', column(lambda joint: joint.max_effort), effort, single),
        _with('slew', np.full(len(places), np.nan), slew, single))


def _place(single: Mapping[str, int], name: str) -> int:
    try:
        return single[name]
    except (KeyError, TypeError):
        raise UnknownName('joint of one degree of freedom', name, single) from None


def _with(what: str, limits: np.ndarray, others: Mapping[str, float] | None,
          single: Mapping[str, int]) -> np.ndarray:
    """Return the limits, replaced where the user gives one; beyond LARGEST is unknown."""
    limits = np.where(limits <= LARGEST, limits, np.nan)
    for name, value in _by_joint(what, others).items():
        k = _place(single, name)
        limits[k] = number = _number(value)
        if not 0.0 < number <= LARGEST:
            raise DynamicsError(f"the {what} limit of joint '{name}' is {shown(value)}; expected a "
                                f'number above 0, at most {LARGEST:g}')
    return limits


def _by_joint(what: str, limits: Mapping | None) -> dict:
    return {} if limits is None else mapping(what, limits, "{'joint_1': 50.0}")


def _range(name: str, pair: Any) -> tuple[float, float]:
    both = isinstance(pair, (tuple, list, np.ndarray)) and np.shape(pair) == (2,)
    lower, upper = map(_number, pair) if both else (np.nan, np.nan)
    if not lower <= upper:
        raise DynamicsError(f"the position limits of joint '{name}' are {shown(pair)}; expected "
                            'two numbers, lower <= upper')
    return lower, upper


def _number(value: Any) -> float:
    try:
        return float(finite('limit', value, ()))
    except DynamicsError:
        return np.nan
