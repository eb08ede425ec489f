"""What may an excitation do, and how is a motion made to keep to it?"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dynamics_node import checks
from dynamics_node.checks import at_least_zero, mapping, positive
from dynamics_node.errors import DynamicsError, UnknownName, shown
from dynamics_node.identification.excited_robot import BETWEEN, excited_robot

WITHOUT_LIMITS = np.pi      # half the range of a continuous joint [rad]; of a slide, 1 m
USUAL_SPEED = 1.0           # where the URDF says none [rad/s or m/s]
PER_HARMONIC = 200          # points of a dense check per period of the highest harmonic
LEAST_ACCELERATION = 1e-9   # [rad/s^2 or m/s^2]
SCALES = 0.9 ** np.arange(50)   # of the amplitudes, tried from the greatest on: down to 0.006
LOOP_SCALES = SCALES[::4]       # the same where each try is a solution of the loops,
BISECTIONS = 4                  # which are then found more finely


class Box(NamedTuple):
    """Where the origin of a frame must stay, in the world; +-inf where it does not matter."""

    frame: str
    lower: tuple = (-np.inf, -np.inf, -np.inf)    # [m]
    upper: tuple = (np.inf, np.inf, np.inf)       # [m]


class ExcitationLimits(NamedTuple):
    """What each joint may do, margins taken off; (nv,) each."""

    lower: np.ndarray           # [rad or m]
    upper: np.ndarray
    velocity: np.ndarray        # [rad/s or m/s]
    acceleration: np.ndarray    # [rad/s^2 or m/s^2], inf = none
    torque: np.ndarray          # [N m or N], inf = unknown
    boxes: tuple
    warnings: tuple
    others: object = None       # Limits of joints that follow by the loops; no torque

    @property
    def middle(self):
        return (self.lower + self.upper) / 2

    @property
    def half(self):
        return (self.upper - self.lower) / 2


def excitation_limits(robot, margin=0.1, positions=None, acceleration=None, boxes=(), excited=None):
    """Return the Limits of a robot: the URDF's, with a margin.

    Of a robot with loops those of its independent joints; `others` has those of the others.

    :param margin: share of each limit that is left unused, and of the range of positions.
    :param positions: {joint: (lower, upper)}, taken as they are [rad or m].
    :param acceleration: one number for all joints or {joint: number}; a URDF has none. Velocity
        limits bound it anyway: a series of K harmonics has |a| <= K w max |v|.
    :param excited: what `excited.excited_of` returns, where that is known already.
    """
    excited = excited_robot(robot) if excited is None else excited
    joints = excited.joints
    margin = at_least_zero('margin', margin)
    if not margin < 1.0:
        raise DynamicsError(f'margin is {margin}; expected a share from 0 to below 1')
    positions = {} if positions is None else mapping('positions', positions,
                                                     "{'joint_1': (-1.0, 1.0)}")
    ranges = _ranges(robot, joints, margin, positions)
    speed = np.array([joint.max_velocity for joint in joints])
    torque = np.array([joint.max_effort for joint in joints])
    warnings = [f'the URDF has no {words} limit of {_names(joints, unknown)}; {instead}'
                for words, unknown, instead in (
                    ('velocity', np.isnan(speed), f'{USUAL_SPEED:g} per second is used'),
                    ('effort', np.isnan(torque), 'their torques are not limited'))
                if unknown.any()]
    return ExcitationLimits(*ranges.T, (1.0 - margin) * np.where(np.isnan(speed), USUAL_SPEED,
                                                                 speed),
                  _accelerations(robot, joints, acceleration),
                  (1.0 - margin) * np.where(np.isnan(torque), np.inf, torque),
                  tuple(_box(robot, box) for box in checks.check_sequence('boxes', boxes)),
                  tuple(warnings),
                  _others(robot, excited.others, margin, positions, acceleration))


def _others(robot, joints, margin, positions, acceleration):
    """Return the Limits of joints that follow; what the URDF does not say does not count."""
    lower, upper = _ranges(robot, joints, margin, positions).T
    free = np.array([not np.isfinite(joint.upper - joint.lower)
                     and joint.name not in positions for joint in joints], dtype=bool)
    speed = np.array([joint.max_velocity for joint in joints])
    return ExcitationLimits(np.where(free, -1e9, lower), np.where(free, 1e9, upper),
                  (1.0 - margin) * np.where(np.isnan(speed), np.inf, speed),
                  _accelerations(robot, joints, acceleration), np.full(len(joints), np.inf), (), ())


def _ranges(robot, joints, margin, positions):
    """Return (lower, upper) of joints, (n, 2); positions as they are, the URDF's with a margin."""
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


def dense_times(trajectory):
    """Return enough times of one period to judge limits at."""
    n = PER_HARMONIC * len(trajectory.sine)
    return np.linspace(0.0, trajectory.period, n, endpoint=False)


def scaled_within_limits(robot, limits, trajectory, times, excited=None):
    """Return the motion, scaled down as far as limits ask for, or None if that cannot be.

    Each joint is scaled to its own limits of position, velocity and acceleration; then all alike
    to those of torque and to the boxes, which depend on all joints, and as far as loops can follow.
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
    if excited.loops is not None:
        return _followed_within(excited, limits, trajectory, times)
    for scale in SCALES:
        if not (excited.excess(limits, center + scale * (q - center), scale * v, scale * a) > 0.0
                ).any():
            return trajectory.scaled(scale)
    return None


def _followed_within(excited, limits, trajectory, times):
    """Return the motion scaled down as far as a robot with loops needs, or None.

    What it tells may depend much on the scale, near singular configurations: it is found finely.
    """
    def fits(scale):
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


def _range(joint, margin):
    if np.isfinite(joint.upper - joint.lower):
        middle, half = (joint.lower + joint.upper) / 2, (joint.upper - joint.lower) / 2
    else:
        middle, half = 0.0, 1.0 if joint.kind == 'prismatic' else WITHOUT_LIMITS
    return middle - (1.0 - margin) * half, middle + (1.0 - margin) * half


def _accelerations(robot, joints, acceleration):
    if acceleration is None:
        return np.full(len(joints), np.inf)
    if not isinstance(acceleration, Mapping):
        return np.full(len(joints), _acceleration('acceleration', acceleration))
    limits = {name: _acceleration(f"acceleration['{robot.model.joint(name).name}']", value)
              for name, value in acceleration.items()}
    return np.array([limits.get(joint.name, np.inf) for joint in joints])


def _acceleration(name, value):
    if not positive(name, value) >= LEAST_ACCELERATION:
        raise DynamicsError(f'{name} is {value:g}; expected {LEAST_ACCELERATION:g} or more')
    return float(value)


def _box(robot, box):
    checks.check_kind('an entry of boxes', box, Box)
    if not isinstance(box.frame, str) or box.frame not in robot.frame_names:
        raise DynamicsError(f'boxes: {UnknownName("frame", box.frame, robot.frame_names)}')
    lower, upper = (checks.check_floats(f"{name} of the box of '{box.frame}'", value, 3)
                    for name, value in (('lower', box.lower), ('upper', box.upper)))
    if not (lower < upper).all():
        raise DynamicsError(f"the box of '{box.frame}' goes from {box.lower} to {box.upper}; "
                            'expected x, y, z in metres, each lower one below the upper')
    return Box(box.frame, tuple(lower), tuple(upper))


def _names(joints, mask):
    return [joint.name for joint, chosen in zip(joints, mask) if chosen]
