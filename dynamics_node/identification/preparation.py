"""Prepare a raw recording for identification: select joints, check, filter, complete loops."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dynamics_node.checks import at_least_zero, check_kind, flag, positive
from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.identification.decimation import factor_for
from dynamics_node.identification.filtering import EDGE, default_cutoff, smooth
from dynamics_node.identification.idle_parts import moving
from dynamics_node.identification.loop_equations import has_loops
from dynamics_node.identification.loop_recording import (
    complete_recording,
    loop_motion_on_branch,
    positions_needed,
)
from dynamics_node.identification.motion_unit_checks import check_speeds
from dynamics_node.identification.motor_side import check_no_currents
from dynamics_node.identification.recording import (
    RawRecording,
    Recording,
    motor_names,
    recorded_steps,
    select_joints,
    without_missing_efforts,
)
from dynamics_node.identification.recording_checks import check_recording
from dynamics_node.identification.repeated_samples import without_copies, without_repeats
from dynamics_node.identification.torque_checks import check_torques
from dynamics_node.robot.robot import Robot

MOST_USED = 0.7   # of the recorded time: with less after filtering, a warning


class Prepared(NamedTuple):
    """A recording that has passed all checks."""

    recording: Recording
    cutoff: float        # of q, v and a [Hz]
    factor: int          # for the decimation of torques and regressors, see decimation.py
    warnings: tuple[str, ...]
    loops: LoopMotion | None = None   # of a robot with loops
    recorded: float = 0.0   # [s] length of the raw recording, without pauses of several ones
    idle: float = 0.0       # [s] of it without motion, which is left out

    @property
    def used(self) -> float:
        """Time that is left for identification [s]."""
        return _duration(self.recording)


def prepare(robot: Robot, raw: RawRecording, cutoff: float | None = None,
            min_duration: float = 5.0, all_move: bool = True) -> Prepared:
    """Return the recording of the robot's joints, in its order, checked and filtered.

    With loops the motors must be recorded; the positions of other joints follow from the loops.

    :param raw: joints that the robot does not have are left out.
    :param cutoff: [Hz]; None: `filtering.default_cutoff`.
    :param min_duration, all_move: see `check_recording`.
    :raise DynamicsError: the reason why the recording is useless, and what to record instead.
    """
    check_kind('raw', raw, RawRecording)
    min_duration, all_move = at_least_zero('min_duration', min_duration), flag('all_move', all_move)
    raw = select_joints(robot, raw)
    check_no_currents(raw)
    raw = without_missing_efforts(robot, raw) if all_move else raw
    raw, twice = without_copies(raw)
    warnings = [*raw.notes, *_unknown_efforts(raw),
                *([f'{twice} samples were recorded twice'] if twice else [])]
    warnings += check_recording(robot, _checked_joints(robot, raw), min_duration, all_move)
    count = len(raw.time)
    raw, repeated = without_repeats(raw)
    if repeated:
        warnings.append(f'{repeated} of {count} samples repeat the one before and are left out: '
                        'the driver publishes faster than it measures')
    raw, loops, others = _independent(robot, raw)
    cutoff = default_cutoff(raw) if cutoff is None else positive('cutoff', cutoff)
    recording = smooth(raw, cutoff)
    whole = _duration(recording)
    recording = recording.rows(moving(recording)) if all_move else recording
    idle, recorded = whole - _duration(recording), float(recorded_steps(raw.time).sum())
    warnings += _left_out(recorded, whole, idle)
    if loops is not None:
        measured = {name: np.interp(recording.time, *series) for name, series in others.items()}
        done = complete_recording(robot, recording, measured, loops)
        recording = done.recording
        warnings += done.warnings
    check_speeds(robot, recording)
    warnings += check_torques(robot, recording, loops)
    return Prepared(recording, cutoff, factor_for(recording.time, cutoff), tuple(warnings),
                    loops, recorded, idle)


def _unknown_efforts(raw: RawRecording) -> Iterator[str]:
    """Return a warning about joints without efforts."""
    if raw.no_effort:
        yield (f'no sample has the effort of {", ".join(raw.no_effort)}: the motion of these '
               'joints is used, their equations are not. Their friction and armature stay as in '
               'the URDF')


def _duration(recording: Recording) -> float:
    """Return the time that the samples of a recording cover, without its gaps [s]."""
    return len(recording.time) * float(np.median(np.diff(recording.time)))


def _left_out(recorded: float, whole: float, idle: float) -> Iterator[str]:
    """Return warnings about time that is not used [s]."""
    if idle:
        yield f'{idle:.3g} of {recorded:.3g} s are without motion and are left out'
    if whole < MOST_USED * recorded:
        yield (f'only {whole:.3g} of {recorded:.3g} s can be used: the filter needs '
               f'{2.0 * EDGE:g} periods of its cutoff beside each gap. Record without gaps')


def _checked_joints(robot: Robot, raw: RawRecording) -> RawRecording:
    """Return the recording without the joints that the loops check."""
    if not robot.loops.constraints:
        return raw
    return raw.joints([name for name in raw.joint_names if name in motor_names(robot)])


def _independent(robot: Robot, raw: RawRecording) -> tuple[
        RawRecording, LoopMotion | None, dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Return (recording of the needed joints, LoopMotion or None, other positions).

    The latter are {joint: (time, positions)} of joints that follow from the needed ones.
    """
    if not has_loops(robot):
        return raw, None, {}
    measured = {name: q for name, q in zip(raw.joint_names, raw.q.T) if np.isfinite(q).any()}
    loops = loop_motion_on_branch(robot, measured)
    needed = [name for name in positions_needed(loops) if name in raw.joint_names]
    others = {name: (raw.time[np.isfinite(q)], q[np.isfinite(q)]) for name, q in measured.items()
              if name not in needed}
    return raw.joints(needed), loops, others
