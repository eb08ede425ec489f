"""Can anything be learned from this recording?

Refused, with what to record instead: stamps that are no times of measurement, a recording that is
too short, slow or full of holes, a joint that never moves or has no or a constant torque, positions
that no joint can have. Warned of: what costs accuracy, but can be lived with. Units of the torques
are judged once accelerations are known: see `unit_checks.py`.
"""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.recording import motor_names
from dynamics_node.identification.unit_checks import position_unit, time_unit, velocity_unit

SLOWEST = 20.0          # [Hz] below, harmonics of usual motions fall between the samples
SLOW = 100.0            # [Hz] below, a warning
FEWEST = 100            # samples
MOST_MISSING = 0.5      # of the samples, or of the time
SMALLEST_MOTION = 0.02  # [rad], a tenth of it in metres: less is a joint that does not move
ONE_WAY = 0.02          # of the way: a joint that goes back by less knows friction one way only
BUNCHED = 0.25          # of the steps may be far from the usual one
JITTERY = 0.1           # spread of the steps, in steps: above, a warning
HELD = 0.2              # of the samples may repeat the one before
FEW_LEVELS = 20         # different torques: less is a coarse sensor


def check_recording(robot, raw, min_duration=5.0, all_move=True):
    """Return warnings about a recording of the robot's joints, in its order: a tuple of texts.

    :param raw: a RawRecording as `recording.of_joints` gives it; joints without a motor have the
        effort zero.
    :param min_duration: [s]
    :param all_move: whether each joint must move; not for a payload, which the wrist alone tells.
    :raise DynamicsError: why nothing can be learned from it, and what to record instead.
    """
    return (*_check_time(raw.time, min_duration),
            *_check_missing(raw),
            *_check_positions(robot, raw),
            *_check_motion(robot, raw, all_move),
            *_check_torques(_of_motors(robot, raw), all_move),
            *_check_velocities(raw))


def without_repeats(raw):
    """Return (recording, how many samples it had twice): same stamp, same numbers.

    :raise DynamicsError: one stamp has two different samples.
    """
    same_time = np.flatnonzero(np.diff(raw.time) == 0.0)
    for quantity in ('q', 'tau'):
        x = getattr(raw, quantity)
        other = [k for k in same_time if not np.array_equal(x[k], x[k + 1], equal_nan=True)]
        if other:
            k = int(other[0])
            raise DynamicsError(
                f'samples {k} and {k + 1} have the same time, {raw.time[k]:.6f} s, but different '
                f'{quantity}; stamp each sample when it is measured, by one publisher per joint')
    kept = np.ones(len(raw.time), dtype=bool)
    kept[same_time + 1] = False
    return raw.rows(kept), len(same_time)


def _check_time(time, min_duration):
    if len(time) < FEWEST:
        raise DynamicsError(f'the recording has {len(time)} samples; expected at least {FEWEST}, '
                            f'and {min_duration:g} s of motion')
    if not np.isfinite(time).all():
        k = int(np.flatnonzero(~np.isfinite(time))[0])
        raise DynamicsError(f'time[{k}] is {time[k]}; every sample needs its time in seconds')
    steps = np.diff(time)
    if (steps <= 0.0).any():
        k = int(np.flatnonzero(steps <= 0.0)[0])
        raise DynamicsError(
            f'time runs backwards at sample {k + 1}: {time[k]:.6f} s, then {time[k + 1]:.6f} s. '
            'A clock was set or a simulation restarted: record again, or cut the recording there')
    usual = float(np.median(steps))
    unit = time_unit(usual)
    if unit:
        raise DynamicsError(f'samples are {usual:.4g} s apart: time seems to be in {unit}; '
                            'expected seconds')
    if 1.0 / usual < SLOWEST:
        raise DynamicsError(f'samples are {usual:.4g} s apart; record at {SLOWEST:g} Hz or more, '
                            f'better {SLOW:g}')
    if time[-1] - time[0] < min_duration:
        raise DynamicsError(f'the recording is {time[-1] - time[0]:.3g} s long; expected '
                            f'{min_duration:g} s of motion or more')
    off = np.abs(steps - usual) > 0.5 * usual
    if off.mean() > BUNCHED or steps[off].sum() > MOST_MISSING * steps.sum():
        raise DynamicsError(
            f'{off.mean():.0%} of the steps in time differ from the usual {usual:.4g} s by more '
            f'than half, and take {steps[off].sum() / steps.sum():.0%} of the time: stamps are '
            'times of arrival, or most samples are missing. Record stamps of the measurement')
    spread = float(steps[~off].std() / usual)
    if spread > JITTERY:
        yield (f'the time between samples varies by {spread:.0%} of {usual:.4g} s; they are '
               'resampled, but stamps of the measurement itself would be better')
    if 1.0 / usual < SLOW * (1.0 - 1e-6):   # 99.9999999 is 100
        yield f'{1.0 / usual:.3g} samples per second are few; record {SLOW:g} or more'


def _check_missing(raw):
    for words, x in (('position', raw.q), ('effort', raw.tau)):
        never = ~np.isfinite(x).any(axis=0)
        if never.any():
            raise DynamicsError(f'no sample has the {words} of {_named(raw, never)}; identification'
                                f' needs it: record joint states of a driver that measures {words}')
    whole = np.isfinite(raw.q).all(axis=1) & np.isfinite(raw.tau).all(axis=1)
    missing = 1.0 - whole.mean()
    if missing > MOST_MISSING:
        lacking = (~np.isfinite(raw.q) | ~np.isfinite(raw.tau)).mean(axis=0)
        raise DynamicsError(
            f'{missing:.0%} of the samples lack a position or an effort, most of all of '
            f"'{raw.joint_names[int(lacking.argmax())]}'; record all joints at the same instants")
    if missing > 0.0:
        yield f'{missing:.1%} of the samples lack a position or an effort and are left out'


def _check_positions(robot, raw):
    """Refuse what no joint can reach, by its limits; a little beyond them is a zero that is off."""
    low, high = np.nanmin(raw.q, axis=0), np.nanmax(raw.q, axis=0)
    for k, joint in enumerate(map(robot.model.joint, raw.joint_names)):
        if not np.isfinite(joint.upper - joint.lower):
            continue
        room = 0.1 * (joint.upper - joint.lower)
        if low[k] >= joint.lower - room and high[k] <= joint.upper + room:
            continue
        reach = (f"joint '{joint.name}' goes from {low[k]:.4g} to {high[k]:.4g}, its limits are "
                 f'{joint.lower:.4g} and {joint.upper:.4g}')
        unit = position_unit(joint, raw.q[:, k], room)
        if unit:
            raise DynamicsError(f'{reach}: it seems to be in {unit}; expected '
                                f'{"m" if joint.kind == "prismatic" else "rad"}')
        raise DynamicsError(f'{reach}. Is it the right URDF, name, unit and zero?')
    return ()


def _check_motion(robot, raw, all_move):
    extent = np.nanmax(raw.q, axis=0) - np.nanmin(raw.q, axis=0)
    slides = np.array([robot.model.joint(name).kind == 'prismatic' for name in raw.joint_names])
    still = extent < np.where(slides, 0.1, 1.0) * SMALLEST_MOTION
    if still.all() or (all_move and still.any()):
        raise DynamicsError(
            f'{_named(raw, still)} did not move: nothing can be learned about '
            f'{"it" if still.sum() == 1 else "them"}. Record an excitation in which every joint '
            'moves, or lock the joint when the URDF is read')
    back = np.array([_way_back(q[np.isfinite(q)]) for q in raw.q.T])
    one_way = ~still & (back < ONE_WAY * extent)
    if one_way.any():
        yield (f'{_named(raw, one_way)} moved in one direction only: friction and offset cannot be '
               'told apart; record motions back and forth')
    return ()


def _way_back(q):
    """Return the least of the longest ways up and down within q."""
    up = (q - np.minimum.accumulate(q)).max()
    down = (np.maximum.accumulate(q) - q).max()
    return min(up, down)


def _check_torques(raw, all_move):
    low, high = np.nanmin(raw.tau, axis=0), np.nanmax(raw.tau, axis=0)
    constant = high - low <= 1e-9 * np.maximum(np.abs(low), np.abs(high))
    if constant.all() or (all_move and constant.any()):
        k = int(np.flatnonzero(constant)[0])
        raise DynamicsError(
            f'the effort of {_named(raw, constant)} is constant, {high[k]:.4g}: the driver does '
            'not measure it, or fills in a zero. Record a driver that reports torques or currents')
    coarse = np.array([len(np.unique(tau[np.isfinite(tau)])) < FEW_LEVELS for tau in raw.tau.T])
    if coarse.any():
        yield f'the effort of {_named(raw, coarse)} takes fewer than {FEW_LEVELS} different values'
    held = np.mean((np.diff(raw.q, axis=0) == 0.0).all(axis=1)
                   & (np.diff(raw.tau, axis=0) == 0.0).all(axis=1))
    if held > HELD:
        yield (f'{held:.0%} of the samples repeat the one before: the driver publishes faster than '
               'it measures, or the robot stood still')


def _check_velocities(raw):
    """Measured velocities are not used: what contradicts the positions is worth a warning."""
    if raw.v is None:
        return
    for k, name in enumerate(raw.joint_names):
        unit = velocity_unit(raw.time, raw.q[:, k], raw.v[:, k])
        if unit:
            yield f"the velocity of '{name}' {unit}; velocities are taken from positions instead"


def _of_motors(robot, raw):
    names = motor_names(robot)
    return raw.joints([name for name in raw.joint_names if name in names])


def _named(raw, mask):
    names = [name for name, chosen in zip(raw.joint_names, mask) if chosen]
    return f"joint '{names[0]}'" if len(names) == 1 else f'joints {names}'
