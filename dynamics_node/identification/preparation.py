"""How does a driver's recording become one to learn from, and what is to be said about it?"""

from typing import NamedTuple

import numpy as np

from dynamics_node.checks import at_least_zero, check_kind, flag, positive
from dynamics_node.identification.decimation import factor_for
from dynamics_node.identification.filtering import default_cutoff, smooth
from dynamics_node.identification.loop_equations import has_loops
from dynamics_node.identification.loop_motion import LoopMotion
from dynamics_node.identification.loop_recording import (
    complete_recording,
    loop_motion_on_branch,
    positions_needed,
)
from dynamics_node.identification.recording import (
    RawRecording,
    Recording,
    motor_names,
    select_joints,
)
from dynamics_node.identification.recording_checks import check_recording, without_repeats
from dynamics_node.identification.unit_checks import check_speeds, check_torques


class Prepared(NamedTuple):
    """A recording that has passed all checks."""

    recording: Recording
    cutoff: float        # below which q, v and a are known [Hz]
    factor: int          # by which torques and regressors are to be decimated, see decimation.py
    warnings: tuple      # texts
    loops: LoopMotion | None = None   # of a robot with loops


def prepare(robot, raw, cutoff=None, min_duration=5.0, all_move=True):
    """Return the recording of the robot's joints, in its order, checked and smoothed.

    Of a robot with loops the motors must be recorded; the loops say where the other joints are.

    :param raw: a RawRecording; joints that the robot does not have are left out.
    :param cutoff: [Hz]; None takes `filtering.default_cutoff`.
    :param min_duration, all_move: see `check_recording`.
    :raise DynamicsError: why nothing can be learned from it, and what to record instead.
    """
    check_kind('raw', raw, RawRecording)
    min_duration, all_move = at_least_zero('min_duration', min_duration), flag('all_move', all_move)
    raw, twice = without_repeats(select_joints(robot, raw))
    warnings = [f'{twice} samples were recorded twice'] if twice else []
    warnings += check_recording(robot, _to_be_checked(robot, raw), min_duration, all_move)
    raw, loops, others = _independent(robot, raw)
    cutoff = default_cutoff(raw) if cutoff is None else positive('cutoff', cutoff)
    recording = smooth(raw, cutoff)
    if loops is not None:
        measured = {name: np.interp(recording.time, *series) for name, series in others.items()}
        done = complete_recording(robot, recording, measured, loops)
        recording = done.recording
        warnings += done.warnings
    check_speeds(robot, recording)
    warnings += check_torques(robot, recording, loops)
    return Prepared(recording, cutoff, factor_for(recording.time, cutoff), tuple(warnings),
                    loops)


def _to_be_checked(robot, raw):
    """Return the recording without joints that follow from the loops: those are checked by them."""
    if not robot.loops.constraints:
        return raw
    return raw.joints([name for name in raw.joint_names if name in motor_names(robot)])


def _independent(robot, raw):
    """Return (recording of the joints that are needed, LoopMotion or None, the other positions).

    The latter are {joint: (time, positions)} of joints that follow from the others.
    """
    if not has_loops(robot):
        return raw, None, {}
    seen = {name: q for name, q in zip(raw.joint_names, raw.q.T) if np.isfinite(q).any()}
    loops = loop_motion_on_branch(robot, seen)
    needed = [name for name in positions_needed(loops) if name in raw.joint_names]
    others = {name: (raw.time[np.isfinite(q)], q[np.isfinite(q)]) for name, q in seen.items()
              if name not in needed}
    return raw.joints(needed), loops, others
