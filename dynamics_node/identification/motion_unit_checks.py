"""Detect wrong units of times, positions and velocities in a recording by their factor.

Positions are compared with joint limits, measured velocities with differences of positions. Torques
are checked in torque_checks.py.
"""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.recording import Recording
from dynamics_node.model.model import JointInfo
from dynamics_node.robot.robot import Robot

DEGREES = 180.0 / np.pi
# (name, number of these per SI unit)
ANGLES = (('degrees', DEGREES), ('milliradians', 1e3))
LENGTHS = (('millimetres', 1e3), ('centimetres', 1e2), ('inches', 1.0 / 0.0254))
VELOCITIES = (('degrees per second', DEGREES), ('revolutions per minute', 30.0 / np.pi),
              ('milli-units per second', 1e3))
TIMES = (('milliseconds', 1e3), ('microseconds', 1e6), ('nanoseconds', 1e9))
USUAL_STEPS = (1e-4, 0.05)      # [s] between samples of joint states
NEAR = 1.35                     # ratio to the factor of a unit: URDFs are wrong by 30 %
CORRELATED = 0.8                # correlation above which a torque follows the model
FAR = 3.0                       # times the limits: nearer positions are not judged
TOO_FAST = 3.0                  # times the velocity limit
HALF_STEP = 0.03                # [s] half the time over which positions are differenced


def time_unit(step: float) -> str | None:
    """Return the name of the unit of stamps with this step, None if it may be seconds."""
    low, high = USUAL_STEPS
    if step <= 10.0 * high:
        return None
    return next((name for name, factor in TIMES if low <= step / factor <= high), None)


def position_unit(joint: JointInfo, q: np.ndarray, room: float) -> str | None:
    """Return the name of a unit in which q would be within the limits of a joint, or None.

    Positions a little beyond the limits are not judged: a zero offset has the same effect. Nor are
    those of a joint with equal limits: a URDF that omits them has 0 and 0.
    """
    q = q[np.isfinite(q)]
    near = FAR * max(abs(joint.lower), abs(joint.upper))
    if joint.lower == joint.upper or np.abs(q).max() < near:
        return None
    fits = [name for name, factor in (LENGTHS if joint.kind == 'prismatic' else ANGLES)
            if q.min() / factor >= joint.lower - room and q.max() / factor <= joint.upper + room]
    if 'degrees' not in fits and np.array_equal(q, np.round(q)):
        return 'encoder counts'
    return fits[0] if fits else None


def velocity_unit(time: np.ndarray, q: np.ndarray, v: np.ndarray) -> str | None:
    """Return a text about how measured velocities contradict the positions, or None.

    Least squares of v by differences of q, over steps that are long against the noise and short
    against motions of some hertz.
    """
    far = max(1, round(HALF_STEP / float(np.median(np.diff(time)))))
    rate = (q[2 * far:] - q[:-2 * far]) / (time[2 * far:] - time[:-2 * far])
    middle = v[far:-far]
    both = np.isfinite(rate) & np.isfinite(middle)
    slope, correlation = slope_of(middle[both], rate[both])
    if both.sum() < 10 or abs(correlation) < CORRELATED or 1.0 / NEAR < slope < NEAR:
        return None
    if slope < 0.0:
        return f'has the opposite sign of its change of position (factor {slope:.3g})'
    unit = named_unit(slope, VELOCITIES)
    return f'is {slope:.3g} times its change of position' + (f', as in {unit}' if unit else '')


def check_speeds(robot: Robot, recording: Recording) -> None:
    """Refuse velocities far beyond the limits: the only check of continuous joints.

    :raise DynamicsError: names the joint and the unit that it seems to have.
    """
    fast = np.quantile(np.abs(recording.v), 0.99, axis=0)
    for joint in robot.model.joints:
        speed = fast[joint.v].max()
        if speed > TOO_FAST * joint.max_velocity:   # False if the limit is unknown (nan)
            units = LENGTHS if joint.kind == 'prismatic' else ANGLES
            unit = next((name for name, factor in units
                         if speed / factor <= joint.max_velocity), None)
            raise DynamicsError(
                f"joint '{joint.name}' moves at {speed:.4g} per second, its limit is "
                f'{joint.max_velocity:.4g}'
                + (f': positions seem to be in {unit}' if unit else
                   '. Check that time is in seconds and positions do not jump'))


def slope_of(y: np.ndarray, x: np.ndarray) -> tuple[float, float]:
    """Return (slope of y against x through zero, correlation)."""
    xx, yy, xy = float(x @ x), float(y @ y), float(x @ y)
    if xx == 0.0 or yy == 0.0:
        return 1.0, 0.0
    return xy / xx, xy / np.sqrt(xx * yy)


def named_unit(slope: float, units: tuple[tuple[str, float], ...], near: float = NEAR) -> str:
    """Return the units whose factor is near a slope, such as 'mN m (1000)'; '' if none is."""
    return ' or '.join(f'{name} ({factor:.4g})' for name, factor in units
                       if 1.0 / near < slope / factor < near)
