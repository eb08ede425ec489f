"""Detect wrong units and signs in a recording by the factor that they cause.

Positions are compared with joint limits, measured velocities with differences of positions, torques
with those of the URDF. A URDF may be wrong, but not by a factor of a thousand; and a scale factor
does not change the correlation between measured and predicted torques.
"""

from collections.abc import Iterator

import numpy as np

from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.loop_equations import project
from dynamics_node.identification.recording import Recording
from dynamics_node.model.model import JointInfo
from dynamics_node.robot.robot import Robot

DEGREES = 180.0 / np.pi
# (name, number of these per SI unit)
ANGLES = (('degrees', DEGREES), ('milliradians', 1e3))
LENGTHS = (('millimetres', 1e3), ('centimetres', 1e2), ('inches', 1.0 / 0.0254))
VELOCITIES = (('degrees per second', DEGREES), ('revolutions per minute', 30.0 / np.pi),
              ('milli-units per second', 1e3))
TORQUES = (('mN m', 1e3), ('N cm', 1e2), ('kN m', 1e-3), ('kgf m', 1.0 / 9.80665),
           ('kgf cm', 100.0 / 9.80665), ('lbf in', 8.8507), ('ozf in', 141.61))
TIMES = (('milliseconds', 1e3), ('microseconds', 1e6), ('nanoseconds', 1e9))
USUAL_STEPS = (1e-4, 0.05)      # [s] between samples of joint states
NEAR = 1.35                     # ratio to the factor of a unit: URDFs are wrong by 30 %
PLAUSIBLE = 3.0                 # a smaller factor may be due to the URDF
CORRELATED = 0.8                # correlation above which a torque follows the model
NO_GRAVITY = 0.2                # of the gravity torque of the model: with less, it is compensated
RELEVANT = 0.05                 # of the other part of the torque: a smaller part is not judged
FAR = 3.0                       # times the limits: nearer positions are not judged
TOO_FAST = 3.0                  # times the velocity limit
SAMPLES = 5000                  # at most, that are compared
HALF_STEP = 0.03                # [s] half the time over which positions are differenced


def time_unit(step: float) -> str | None:
    """Return the name of the unit of stamps with this step, None if it may be seconds."""
    low, high = USUAL_STEPS
    if step <= 10.0 * high:
        return None
    return next((name for name, factor in TIMES if low <= step / factor <= high), None)


def position_unit(joint: JointInfo, q: np.ndarray, room: float) -> str | None:
    """Return the name of a unit in which q would be within the limits of a joint, or None.

    Positions a little beyond the limits are not judged: a zero offset has the same effect.
    """
    q = q[np.isfinite(q)]
    if np.abs(q).max() < FAR * max(abs(joint.lower), abs(joint.upper)):
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
    slope, correlation = _slope(middle[both], rate[both])
    if both.sum() < 10 or abs(correlation) < CORRELATED or 1.0 / NEAR < slope < NEAR:
        return None
    if slope < 0.0:
        return f'has the opposite sign of its change of position (factor {slope:.3g})'
    return (f'is {slope:.3g} times its change of position'
            + _named(slope, VELOCITIES, ', as in '))


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


def check_torques(robot: Robot, recording: Recording,
                  loops: LoopMotion | None = None) -> Iterator[str]:
    """Yield warnings about the units of torques; refuse units that are recognised.

    By the slope of measured torques against those of the URDF, over all joints: it is near 1 if
    torques are in N m, on the joint side and complete.

    :param loops: LoopMotion of a robot with loops.
    :raise DynamicsError: names the unit or convention that it seems to be.
    """
    recording = recording.rows(slice(None, None, 1 + len(recording.time) // SAMPLES))
    gravity = project(loops, recording.q, robot.gravity_torque(recording.q))
    model = project(loops, recording.q,
                    robot.inverse_dynamics(recording.q, recording.v, recording.a))
    if loops is not None:
        driven = loops.active[loops.independent]
        rows = loops.independent[driven]
        recording = recording._replace(
            joint_names=tuple(name for name, its in zip(loops.names, driven) if its),
            v=recording.v[:, rows], tau=recording.tau[:, rows])
        gravity, model = gravity[:, driven], model[:, driven]
    _check_signs(recording, model)
    _check_gravity(recording, gravity, model - gravity)
    slope, correlation = _slope(recording.tau.ravel(), model.ravel())
    if abs(correlation) < CORRELATED:
        yield (f'measured torques and those of the URDF have a correlation of only '
               f'{correlation:.2f}: check that `effort` is a torque and that joint names are right')
    elif slope < 0.0:
        raise DynamicsError(f'measured torques are {slope:.3g} times those of the URDF: the sign '
                            'is that of the load. Record the torque of the motor on the joint')
    elif not 1.0 / PLAUSIBLE < slope < PLAUSIBLE:
        yield from _judge(recording, slope, model)


def _judge(recording, slope, model):
    """Refuse a factor that is that of a unit; warn of one that a wrong URDF may explain."""
    each = [_slope(t, m)[0] for t, m in zip(recording.tau.T, model.T)]
    per_joint = ', '.join(f'{name} {s:.3g}' for name, s in zip(recording.joint_names, each))
    unit = _named(slope, TORQUES, 'they seem to be in ')
    text = f'measured torques are {slope:.3g} times those of the URDF ({per_joint})'
    if unit:  # with 10 N m/A a current in A has about the value of the torque in kgf m
        other = ', or are currents' if slope < 1.0 else ''
        raise DynamicsError(f'{text}: {unit}{other}; expected N m (N for a prismatic joint)')
    if not 0.1 < slope < 10.0:
        raise DynamicsError(
            f'{text}: they seem to be currents, torques before the gear, or shares of the rated '
            'torque. Multiply each joint by its constant (torque constant x gear ratio)')
    yield (f'{text}: are the masses of the URDF that wrong? Torques before the gear or '
           'currents look the same')


def _check_signs(recording, model):
    """Refuse joints whose torque has the opposite sign of the URDF's, if all others agree."""
    correlation = np.array([_slope(tau, m)[1] for tau, m in zip(recording.tau.T, model.T)])
    wrong = correlation < -CORRELATED
    if not wrong.any() or wrong.all():
        return
    others = _slope(recording.tau[:, ~wrong].ravel(), model[:, ~wrong].ravel())[1]
    if others > CORRELATED:
        names = [name for name, its in zip(recording.joint_names, wrong) if its]
        raise DynamicsError(f'the measured torques of {names} have the opposite sign of the '
                            "URDF's, those of other joints do not: invert their axis in the URDF, "
                            'or the sign of their effort')


def _check_gravity(recording, gravity, rest):
    """Refuse torques without gravity: the driver compensates it and reports the rest.

    tau = s_g gravity + s_d rest + friction of each joint, by least squares.
    """
    heavy, lively = np.sqrt(np.mean(gravity ** 2)), np.sqrt(np.mean(rest ** 2))
    if heavy < RELEVANT * lively or lively < RELEVANT * heavy:
        return
    n = gravity.shape[1]
    own = [np.einsum('nk,kj->nkj', x, np.eye(n)) for x in (np.sign(recording.v), recording.v)]
    A = np.concatenate([gravity[..., None], rest[..., None], *own], axis=-1).reshape(-1, 2 + 2 * n)
    tau = recording.tau.ravel()
    found = np.linalg.lstsq(A, tau, rcond=None)[0]
    explained = 1.0 - np.sum((tau - A @ found) ** 2) / np.sum(tau ** 2)
    if abs(found[0]) < NO_GRAVITY * abs(found[1]) and explained > CORRELATED ** 2:
        raise DynamicsError(
            f'measured torques have {abs(found[0] / found[1]):.0%} of the gravity torque: the '
            'drive subtracts it. Add it again, or identify the robot with gravity (0, 0, 0)')


def _slope(y, x):
    """Return (slope of y against x through zero, correlation)."""
    xx, yy, xy = float(x @ x), float(y @ y), float(x @ y)
    if xx == 0.0 or yy == 0.0:
        return 1.0, 0.0
    return xy / xx, xy / np.sqrt(xx * yy)


def _named(slope, units, before):
    near = [f'{name} ({factor:.4g})' for name, factor in units
            if 1.0 / NEAR < slope / factor < NEAR]
    return before + ' or '.join(near) if near else ''
