"""In which unit was it recorded? A wrong one is known by its factor.

Positions are held against joint limits, measured velocities against the differences of positions,
torques against what the URDF says. A URDF may be far off, but not by a thousand; and its gravity
and inertia torques have shapes that scaling does not change: the factor comes with a correlation.
"""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.loop_equations import project

DEGREES = 180.0 / np.pi
# (what it is, how many of it are one SI unit)
TURNS = (('degrees', DEGREES), ('milliradians', 1e3))
SLIDES = (('millimetres', 1e3), ('centimetres', 1e2), ('inches', 1.0 / 0.0254))
VELOCITIES = (('degrees per second', DEGREES), ('revolutions per minute', 30.0 / np.pi),
              ('milli-units per second', 1e3))
TORQUES = (('mN m', 1e3), ('N cm', 1e2), ('kN m', 1e-3), ('kgf m', 1.0 / 9.80665),
           ('kgf cm', 100.0 / 9.80665), ('lbf in', 8.8507), ('ozf in', 141.61))
TIMES = (('milliseconds', 1e3), ('microseconds', 1e6), ('nanoseconds', 1e9))
USUAL_STEPS = (1e-4, 0.05)      # [s] between samples of joint states
NEAR = 1.35                     # a factor this near to a unit's is that unit: URDFs are off by 30 %
PLAUSIBLE = 3.0                 # no URDF is trusted to be nearer than this: only warned of
ALIKE = 0.8                     # correlation from which a torque has the shape of the model's
NO_GRAVITY = 0.2                # of the model's gravity torque: less is a robot that compensates
FELT = 0.05                     # of the other part of the torque: what is less does not decide
FAR = 3.0                       # times the limits: positions in another unit are that far off
TOO_FAST = 3.0                  # times the velocity limit
ENOUGH = 5000                   # samples decide about a factor
APART = 0.03                    # [s] positions whose difference is held against a velocity, halved


def time_unit(step):
    """Return the name of the unit of stamps this far apart, or None if seconds make sense."""
    low, high = USUAL_STEPS
    if step <= 10.0 * high:
        return None
    return next((name for name, factor in TIMES if low <= step / factor <= high), None)


def position_unit(joint, q, room):
    """Return the name of a unit in which q would be within the limits of a joint, or None.

    Not of what is a little beyond them: a zero that is off looks like that.
    """
    q = q[np.isfinite(q)]
    if np.abs(q).max() < FAR * max(abs(joint.lower), abs(joint.upper)):
        return None
    fits = [name for name, factor in (SLIDES if joint.kind == 'prismatic' else TURNS)
            if q.min() / factor >= joint.lower - room and q.max() / factor <= joint.upper + room]
    if 'degrees' not in fits and np.array_equal(q, np.round(q)):
        return 'encoder counts'
    return fits[0] if fits else None


def velocity_unit(time, q, v):
    """Return in words how measured velocities contradict the positions, or None.

    Least squares of v by the differences of q, over steps long enough to rise above noise, short
    enough for motions of some hertz.
    """
    far = max(1, round(APART / float(np.median(np.diff(time)))))
    rate = (q[2 * far:] - q[:-2 * far]) / (time[2 * far:] - time[:-2 * far])
    middle = v[far:-far]
    both = np.isfinite(rate) & np.isfinite(middle)
    slope, alike = _slope(middle[both], rate[both])
    if both.sum() < 10 or abs(alike) < ALIKE or 1.0 / NEAR < slope < NEAR:
        return None
    if slope < 0.0:
        return f'has the opposite sign of its change of position (factor {slope:.3g})'
    return (f'is {slope:.3g} times its change of position'
            + _named(slope, VELOCITIES, ', as in '))


def check_speeds(robot, recording):
    """Refuse velocities far beyond the limits: continuous joints have no others.

    :raise DynamicsError: which joint is too fast, and which unit it seems to be.
    """
    fast = np.quantile(np.abs(recording.v), 0.99, axis=0)
    for joint in robot.model.joints:
        speed = fast[joint.v].max()
        if speed > TOO_FAST * joint.max_velocity:   # never, where the limit is unknown
            units = SLIDES if joint.kind == 'prismatic' else TURNS
            unit = next((name for name, factor in units
                         if speed / factor <= joint.max_velocity), None)
            raise DynamicsError(
                f"joint '{joint.name}' moves at {speed:.4g} per second, its limit is "
                f'{joint.max_velocity:.4g}'
                + (f': positions seem to be in {unit}' if unit else
                   '. Is the time in seconds, are positions free of jumps?'))


def check_torques(robot, recording, loops=None):
    """Yield warnings about the torques' units; refuse where a factor tells them.

    The factor is the slope of measured torques by those of the URDF, over all joints. It is near 1
    if torques are in N m, at the joint and complete.

    :param loops: LoopMotion of a robot with loops.
    :raise DynamicsError: which unit or convention it seems to be.
    """
    recording = recording.rows(slice(None, None, 1 + len(recording.time) // ENOUGH))
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
    slope, alike = _slope(recording.tau.ravel(), model.ravel())
    if abs(alike) < ALIKE:
        yield (f'measured torques and those of the URDF have a correlation of {alike:.2f} only: '
               'is `effort` a torque, and do the names belong to the right joints?')
    elif slope < 0.0:
        raise DynamicsError(f'measured torques are {slope:.3g} times those of the URDF: the sign '
                            'is that of the load. Record the torque of the motor on the joint')
    elif not 1.0 / PLAUSIBLE < slope < PLAUSIBLE:
        yield from _judge(recording, slope, model)


def _judge(recording, slope, model):
    """Refuse a factor that is a unit's; warn of one that a bad URDF could explain."""
    each = [_slope(t, m)[0] for t, m in zip(recording.tau.T, model.T)]
    per_joint = ', '.join(f'{name} {s:.3g}' for name, s in zip(recording.joint_names, each))
    unit = _named(slope, TORQUES, 'they seem to be in ')
    said = f'measured torques are {slope:.3g} times those of the URDF ({per_joint})'
    if unit:  # a current is as many amperes as a torque has kgf m, where a motor gives 10 N m/A
        other = ', or are currents' if slope < 1.0 else ''
        raise DynamicsError(f'{said}: {unit}{other}; expected N m (N for a slide)')
    if not 0.1 < slope < 10.0:
        raise DynamicsError(
            f'{said}: they seem to be currents, torques before the gear, or shares of the rated '
            'torque. Multiply each joint by its constant (torque constant x gear ratio)')
    yield (f'{said}: are masses of the URDF that far off? Torques before the gear or currents '
           'would look the same')


def _check_signs(recording, model):
    """Refuse a joint that pulls the other way than the URDF says, where all others agree."""
    alike = np.array([_slope(tau, m)[1] for tau, m in zip(recording.tau.T, model.T)])
    wrong = alike < -ALIKE
    if not wrong.any() or wrong.all():
        return
    others = _slope(recording.tau[:, ~wrong].ravel(), model[:, ~wrong].ravel())[1]
    if others > ALIKE:
        names = [name for name, its in zip(recording.joint_names, wrong) if its]
        raise DynamicsError(f'the measured torques of {names} have the opposite sign of the '
                            "URDF's, those of other joints have not: turn their axis in the URDF, "
                            'or the sign of their effort')


def _check_gravity(recording, gravity, rest):
    """Refuse torques without gravity: the drive compensates for it and reports what is left.

    tau = s_g gravity + s_d rest + friction of each joint, by least squares.
    """
    heavy, lively = np.sqrt(np.mean(gravity ** 2)), np.sqrt(np.mean(rest ** 2))
    if heavy < FELT * lively or lively < FELT * heavy:
        return
    n = gravity.shape[1]
    own = [np.einsum('nk,kj->nkj', x, np.eye(n)) for x in (np.sign(recording.v), recording.v)]
    A = np.concatenate([gravity[..., None], rest[..., None], *own], axis=-1).reshape(-1, 2 + 2 * n)
    tau = recording.tau.ravel()
    found = np.linalg.lstsq(A, tau, rcond=None)[0]
    explained = 1.0 - np.sum((tau - A @ found) ** 2) / np.sum(tau ** 2)
    if abs(found[0]) < NO_GRAVITY * abs(found[1]) and explained > ALIKE ** 2:
        raise DynamicsError(
            f'measured torques hold {abs(found[0] / found[1]):.0%} of the gravity torque: the '
            'drive takes it off before it reports. Add it again, or identify the robot with '
            'gravity (0, 0, 0)')


def _slope(y, x):
    """Return (slope of y by x through zero, correlation)."""
    xx, yy, xy = float(x @ x), float(y @ y), float(x @ y)
    if xx == 0.0 or yy == 0.0:
        return 1.0, 0.0
    return xy / xx, xy / np.sqrt(xx * yy)


def _named(slope, units, before):
    near = [f'{name} ({factor:.4g})' for name, factor in units
            if 1.0 / NEAR < slope / factor < NEAR]
    return before + ' or '.join(near) if near else ''
