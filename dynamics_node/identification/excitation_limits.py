"""Compute the limits of an excitation trajectory, and scale a motion into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node import checks
from dynamics_node.checks import at_least_zero, mapping, positive
from dynamics_node.errors import DynamicsError, UnknownName, shown
from dynamics_node.identification.excited_robot import (
    BETWEEN,
    ExcitedMechanism,
    ExcitedTree,
    excited_robot,
)
from dynamics_node.identification.fourier import Fourier
from dynamics_node.model.model import JointInfo
from dynamics_node.robot.robot import Robot

HALF_RANGE = np.pi          # of a joint without limits [rad]; of a prismatic one, 1 m
DEFAULT_SPEED = 1.0         # where the URDF has no limit [rad/s or m/s]
PER_HARMONIC = 200          # points of a dense check per period of the highest harmonic
MIN_ACCELERATION = 1e-9     # [rad/s^2 or m/s^2]
SCALES = 0.9 ** np.arange(50)   # of the amplitudes, tried in this order: down to 0.006
LOOP_SCALES = SCALES[::4]       # coarser where each trial needs a solution of the loops,
BISECTIONS = 4                  # refined by bisection


class Box(NamedTuple):
    """Bounds of the origin of a frame, in the world; +-inf where there is none."""

    frame: str
    lower: Sequence[float] = (-np.inf, -np.inf, -np.inf)    # [m]
    upper: Sequence[float] = (np.inf, np.inf, np.inf)       # [m]


class ExcitationLimits(NamedTuple):
    """Limits of each joint, less the margin; (nv,) each."""

    lower: np.ndarray           # [rad or m]
    upper: np.ndarray
    velocity: np.ndarray        # [rad/s or m/s]
    acceleration: np.ndarray    # [rad/s^2 or m/s^2], inf = none
    torque: np.ndarray          # [N m or N], inf = unknown
    boxes: tuple[Box, ...]
    warnings: tuple[str, ...]
    others: ExcitationLimits | None = None   # of joints that follow by the loops; no torque

    @property
    def middle(self) -> np.ndarray:
        """Middle of each range [rad or m]."""
        return (self.lower + self.upper) / 2

    @property
    def half(self) -> np.ndarray:
        """Half of each range [rad or m]."""
        return (self.upper - self.lower) / 2


def excitation_limits(robot: Robot, margin: float = 0.1,
                      positions: Mapping[str, Sequence[float]] | None = None,
                      acceleration: float | Mapping[str, float] | None = None,
                      boxes: Sequence[Box] = (),
                      excited: ExcitedTree | None = None) -> ExcitationLimits:
    """Return the ExcitationLimits of a robot: those of the URDF, with a margin.

    For a robot with loops: those of its independent joints; `others` has the other joints.

    :param margin: share of each limit that is left unused, and of the range of positions.
    :param positions: {joint: (lower, upper)}, used without margin [rad or m].
    :param acceleration: one number for all joints or {joint: number}; a URDF has none. Velocity
        limits bound it anyway: a series of K harmonics has |a| <= K w max |v|.
    :param excited: result of `excited_robot(robot)`, if known already.
    """
    excited = excited_robot(robot) if excited is None else excited
    joints = excited.joints
    margin = at_least_zero('margin', margin)
    if not margin < 1.0:
        raise DynamicsError(f'margin is {margin}; expected a share from 0 to below 1')
    positions = {} if positions is None else mapping('positions', positions,
                                                     "{'joint_1': (-1.0, 1.0)}")
    lower, upper = _ranges(robot, joints, margin, positions).T
    speed = np.array([joint.max_velocity for joint in joints])
    torque = np.array([joint.max_effort for joint in joints])
    warnings = [f'the URDF has no {words} limit of {_names(joints, unknown)}; {instead}'
                for words, unknown, instead in (
                    ('velocity', np.isnan(speed), f'{DEFAULT_SPEED:g} per second is used'),
                    ('effort', np.isnan(torque), 'their torques are not limited'))
                if unknown.any()]
    return ExcitationLimits(
        lower, upper, (1.0 - margin) * np.where(np.isnan(speed), DEFAULT_SPEED, speed),
        _accelerations(robot, joints, acceleration),
        (1.0 - margin) * np.where(np.isnan(torque), np.inf, torque),
        tuple(_box(robot, box) for box in checks.check_sequence('boxes', boxes)), tuple(warnings),
        _others(robot, excited.others, margin, positions, acceleration))


def _others(robot: Robot, joints: Sequence[JointInfo], margin: float,
            positions: Mapping[str, tuple[float, float]],
            acceleration: float | Mapping[str, float] | None) -> ExcitationLimits:
    """Return the limits of joints that follow by the loops; infinite where the URDF has none."""
    lower, upper = _ranges(robot, joints, margin, positions).T
    free_below, free_above = (
        np.array([not np.isfinite(getattr(joint, end)) and joint.name not in positions
                  for joint in joints], dtype=bool) for end in ('lower', 'upper'))
    speed = np.array([joint.max_velocity for joint in joints])
    return ExcitationLimits(
        np.where(free_below, -1e9, lower), np.where(free_above, 1e9, upper),
        (1.0 - margin) * np.where(np.isnan(speed), np.inf, speed),
        _accelerations(robot, joints, acceleration), np.full(len(joints), np.inf), (), ())


def _ranges(robot: Robot, joints: Sequence[JointInfo], margin: float,
            positions: Mapping[str, tuple[float, float]]) -> np.ndarray:
    """Return (lower, upper) of joints, (n, 2): `positions`, or the URDF's with a margin."""
    ranges = np.array([_range(joint, margin) for joint in joints]).reshape(-1, 2)
    places = {joint.name: k for k, joint in enumerate(joints)}
    for name, pair in positions.items():
        lower, upper = checks.check_single(f"positions['{name}']", pair, 2)
        if lower >= upper:
            raise DynamicsError(f"positions['{name}'] is {shown(pair)}; expected (lower, upper)")
        robot.model.joint(name)
        if name in places:
            ranges[places[name]] = lower, upper
    return ranges


def dense_times(trajectory: Fourier) -> np.ndarray:
    """Return the times within one period at which limits are checked."""
    n = PER_HARMONIC * len(trajectory.sine)
    return np.linspace(0.0, trajectory.period, n, endpoint=False)


def scaled_within_limits(robot: Robot, limits: ExcitationLimits, trajectory: Fourier,
                         times: np.ndarray, excited: ExcitedTree | None = None) -> Fourier | None:
    """Return the motion scaled down into the limits, or None if no scale is small enough.

    Each joint is scaled to its limits of position, velocity and acceleration; then all joints by
    one factor to the limits of torque and to the boxes, and until the loops can follow.
    """
    excited = excited_robot(robot) if excited is None else excited
    center = np.clip(trajectory.center, limits.lower, limits.upper)
    trajectory = trajectory._replace(center=center)
    q, v, a = trajectory.sample(times)
    with np.errstate(all='ignore'):
        room = [BETWEEN * (limits.upper - center) / (q - center).max(axis=0),
                BETWEEN * (center - limits.lower) / (center - q).max(axis=0),
                BETWEEN * limits.velocity / np.abs(v).max(axis=0),
                BETWEEN * limits.acceleration / np.abs(a).max(axis=0)]
    trajectory = trajectory.scaled(np.nanmin([*room, np.ones(len(center))], axis=0))
    q, v, a = trajectory.sample(times)
    if isinstance(excited, ExcitedMechanism):
        return _followed_within(excited, limits, trajectory, times)
    for scale in SCALES:
        if not (excited.excess(limits, center + scale * (q - center), scale * v, scale * a) > 0.0
                ).any():
            return trajectory.scaled(scale)
    return None


def _followed_within(excited: ExcitedMechanism, limits: ExcitationLimits, trajectory: Fourier,
                     times: np.ndarray) -> Fourier | None:
    """Return the motion of a robot with loops scaled down into the limits, or None.

    Near singular configurations the information depends much on the scale: it is refined.
    """
    def fits(scale: float) -> bool:
        states = excited.states(trajectory.scaled(scale), times)
        return states is not None and not (excited.excess(limits, *states) > 0.0).any()

    found = next((k for k, scale in enumerate(LOOP_SCALES) if fits(scale)), None)
    if found is None:
        return None
    low = high = LOOP_SCALES[found]
    if found:
        high = LOOP_SCALES[found - 1]
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if fits(middle) else (low, middle)
    return trajectory.scaled(low)


def _range(joint: JointInfo, margin: float) -> tuple[float, float]:
    """Return (lower, upper); a joint without one limit or both gets a range of ordinary width."""
    lower, upper = float(joint.lower), float(joint.upper)
    width = 2.0 if joint.kind == 'prismatic' else 2.0 * HALF_RANGE
    if not np.isfinite(lower):
        lower = upper - width if np.isfinite(upper) else -width / 2
    if not np.isfinite(upper):
        upper = lower + width
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    return middle - (1.0 - margin) * half, middle + (1.0 - margin) * half


def _accelerations(robot: Robot, joints: Sequence[JointInfo],
                   acceleration: float | Mapping[str, float] | None) -> np.ndarray:
    if acceleration is None:
        return np.full(len(joints), np.inf)
    if not isinstance(acceleration, Mapping):
        return np.full(len(joints), _acceleration('acceleration', acceleration))
    limits = {name: _acceleration(f"acceleration['{robot.model.joint(name).name}']", value)
              for name, value in acceleration.items()}
    return np.array([limits.get(joint.name, np.inf) for joint in joints])


def _acceleration(name: str, value: float) -> float:
    if not positive(name, value) >= MIN_ACCELERATION:
        raise DynamicsError(f'{name} is {value:g}; expected {MIN_ACCELERATION:g} or more')
    return float(value)


def _box(robot: Robot, box: Box) -> Box:
    checks.check_kind('an entry of boxes', box, Box)
    if not isinstance(box.frame, str) or box.frame not in robot.frame_names:
        raise DynamicsError(f'boxes: {UnknownName("frame", box.frame, robot.frame_names)}')
    lower, upper = (checks.check_floats(f"{name} of the box of '{box.frame}'", value, 3)
                    for name, value in (('lower', box.lower), ('upper', box.upper)))
    if not (lower < upper).all():
        raise DynamicsError(f"the box of '{box.frame}' goes from {box.lower} to {box.upper}; "
                            'expected x, y, z in metres, each lower one below the upper')
    return Box(box.frame, tuple(lower), tuple(upper))


def _names(joints: Sequence[JointInfo], mask: np.ndarray) -> list[str]:
    return [joint.name for joint, chosen in zip(joints, mask) if chosen]
