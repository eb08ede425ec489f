"""Check a recording before it is used for identification.

Errors, which say what to record instead: stamps that are not times of measurement; a recording
that is too short, too slow or has too many gaps; a joint that does not move; an effort that is
missing or constant; positions beyond the joint limits. Warnings: loss of accuracy only. Units
of torques are checked when accelerations are known: see `torque_checks.py`.
"""

from collections.abc import Iterator

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.motion_unit_checks import position_unit, time_unit, velocity_unit
from dynamics_node.identification.recording import RawRecording, motor_names, recorded_steps
from dynamics_node.robot.robot import Robot

MIN_RATE = 20.0         # [Hz] below, harmonics of usual motions fall between the samples
GOOD_RATE = 100.0       # [Hz] below, a warning
MIN_SAMPLES = 100
MAX_MISSING = 0.5      # of the samples, or of the time
MIN_MOTION = 0.02       # [rad], a tenth of it in metres: a joint with less does not move
MIN_RETURN = 0.02       # of the motion range: with less, friction is seen in one direction only
MAX_IRREGULAR = 0.25    # of the steps may be far from the usual one
MAX_JITTER = 0.1        # standard deviation of the steps, in steps: above, a warning
ROUNDING = 1e-9         # of a sum of steps
MIN_LEVELS = 20         # different torques: fewer is a coarse sensor


def check_recording(robot: Robot, raw: RawRecording, min_duration: float = 5.0,
                    all_move: bool = True) -> tuple[str, ...]:
    """Return warnings about a recording of the robot's joints, in the order of the robot.

    :param raw: as `recording.select_joints` returns it; passive joints have the effort zero.
    :param min_duration: [s]
    :param all_move: whether each joint must move; a payload needs a motion of the wrist only.
    :raise DynamicsError: the reason why the recording is useless, and what to record instead.
    """
    return (*_check_time(raw.time, min_duration),
            *_check_missing(raw),
            *_check_positions(robot, raw),
            *_check_motion(robot, raw, all_move),
            *_check_torques(_effort_columns(robot, raw), all_move),
            *_check_velocities(raw))


def _check_time(time: np.ndarray, min_duration: float) -> Iterator[str]:
    if len(time) < MIN_SAMPLES:
        raise DynamicsError(f'the recording has {len(time)} samples; expected at least '
                            f'{MIN_SAMPLES}, and {min_duration:g} s of motion')
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
    if 1.0 / usual < MIN_RATE:
        raise DynamicsError(f'samples are {usual:.4g} s apart; record at {MIN_RATE:g} Hz or more, '
                            f'better {GOOD_RATE:g}')
    steps = recorded_steps(time)
    if steps.sum() < min_duration * (1.0 - ROUNDING):
        raise DynamicsError(f'the recording is {steps.sum():.3g} s long; expected '
                            f'{min_duration:g} s of motion or more')
    off = np.abs(steps - usual) > 0.5 * usual
    if off.mean() > MAX_IRREGULAR or steps[off].sum() > MAX_MISSING * steps.sum():
        raise DynamicsError(
            f'{off.mean():.0%} of the steps in time differ from the usual {usual:.4g} s by more '
            f'than half, and take {steps[off].sum() / steps.sum():.0%} of the time: stamps are '
            'times of arrival, or most samples are missing. Record stamps of the measurement')
    spread = float(steps[~off].std() / usual)
    if spread > MAX_JITTER:
        yield (f'the time between samples varies by {spread:.0%} of {usual:.4g} s; they are '
               'resampled, but stamps of the measurement itself would be better')
    if 1.0 / usual < GOOD_RATE * (1.0 - 1e-6):   # 99.9999999 is 100
        yield f'{1.0 / usual:.3g} samples per second are few; record {GOOD_RATE:g} or more'


def _check_missing(raw: RawRecording) -> Iterator[str]:
    for words, x in (('position', raw.q), ('effort', raw.tau)):
        never = ~np.isfinite(x).any(axis=0)
        if never.any():
            raise DynamicsError(f'no sample has the {words} of {_named(raw, never)}; identification'
                                f' needs it: record joint states of a driver that measures {words}')
    whole = np.isfinite(raw.q).all(axis=1) & np.isfinite(raw.tau).all(axis=1)
    missing = 1.0 - whole.mean()
    if missing > MAX_MISSING:
        lacking = (~np.isfinite(raw.q) | ~np.isfinite(raw.tau)).mean(axis=0)
        raise DynamicsError(
            f'{missing:.0%} of the samples lack a position or an effort, most of all of '
            f"'{raw.joint_names[int(lacking.argmax())]}'; record all joints at the same instants")
    if missing > 0.0:
        yield f'{missing:.1%} of the samples lack a position or an effort and are left out'


def _check_positions(robot: Robot, raw: RawRecording) -> tuple[str, ...]:
    """Refuse positions far beyond the limits; a zero offset may exceed them a little."""
    low, high = np.nanmin(raw.q, axis=0), np.nanmax(raw.q, axis=0)
    for k, joint in enumerate(map(robot.model.joint, raw.joint_names)):
        if not np.isfinite(joint.upper - joint.lower):
            continue
        room = 0.1 * (joint.upper - joint.lower)
        if low[k] >= joint.lower - room and high[k] <= joint.upper + room:
            continue
        motion = (f"joint '{joint.name}' goes from {low[k]:.4g} to {high[k]:.4g}, its limits are "
                  f'{joint.lower:.4g} and {joint.upper:.4g}')
        unit = position_unit(joint, raw.q[:, k], room)
        if unit:
            raise DynamicsError(f'{motion}: it seems to be in {unit}; expected '
                                f'{"m" if joint.kind == "prismatic" else "rad"}')
        raise DynamicsError(f'{motion}. Is it the right URDF, name, unit and zero?')
    return ()


def _check_motion(robot: Robot, raw: RawRecording, all_move: bool) -> Iterator[str]:
    extent = np.nanmax(raw.q, axis=0) - np.nanmin(raw.q, axis=0)
    slides = np.array([robot.model.joint(name).kind == 'prismatic' for name in raw.joint_names])
    still = extent < np.where(slides, 0.1, 1.0) * MIN_MOTION
    if still.all() or (all_move and still.any()):
        raise DynamicsError(
            f'{_named(raw, still)} did not move: nothing can be identified of '
            f'{"it" if still.sum() == 1 else "them"}. Record an excitation in which every joint '
            'moves, or lock the joint when the URDF is read')
    back = np.array([_return_motion(q[np.isfinite(q)]) for q in raw.q.T])
    one_way = ~still & (back < MIN_RETURN * extent)
    if one_way.any():
        yield (f'{_named(raw, one_way)} moved in one direction only: friction and offset cannot be '
               'separated; record motions back and forth')


def _return_motion(q: np.ndarray) -> float:
    """Return the smaller one of the largest rise and the largest fall within q."""
    up = (q - np.minimum.accumulate(q)).max()
    down = (np.maximum.accumulate(q) - q).max()
    return min(up, down)


def _check_torques(raw: RawRecording, all_move: bool) -> Iterator[str]:
    low, high = np.nanmin(raw.tau, axis=0), np.nanmax(raw.tau, axis=0)
    constant = high - low <= 1e-9 * np.maximum(np.abs(low), np.abs(high))
    if constant.all() or (all_move and constant.any()):
        k = int(np.flatnonzero(constant)[0])
        raise DynamicsError(
            f'the effort of {_named(raw, constant)} is constant, {high[k]:.4g}: the driver does '
            'not measure it, or fills in a zero. Record a driver that reports torques or currents, '
            'or leave this effort out (--no-effort, NaN in a file)')
    coarse = np.array([len(np.unique(tau[np.isfinite(tau)])) < MIN_LEVELS for tau in raw.tau.T])
    if coarse.any():
        yield f'the effort of {_named(raw, coarse)} takes fewer than {MIN_LEVELS} different values'


def _check_velocities(raw: RawRecording) -> Iterator[str]:
    """Warn of measured velocities that contradict the positions; they are not used."""
    if raw.v is None:
        return
    for k, name in enumerate(raw.joint_names):
        unit = velocity_unit(raw.time, raw.q[:, k], raw.v[:, k])
        if unit:
            yield f"the velocity of '{name}' {unit}; velocities are taken from positions instead"


def _effort_columns(robot: Robot, raw: RawRecording) -> RawRecording:
    """Return the columns of joints with a motor whose effort is used."""
    names = [name for name in motor_names(robot) if name not in raw.no_effort]
    return raw.joints([name for name in raw.joint_names if name in names])


def _named(raw: RawRecording, mask: np.ndarray) -> str:
    names = [name for name, chosen in zip(raw.joint_names, mask) if chosen]
    return f"joint '{names[0]}'" if len(names) == 1 else f'joints {names}'
