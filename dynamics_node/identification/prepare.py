"""How does a driver's recording become one to learn from, and what is to be said about it?"""

from typing import NamedTuple

from dynamics_node.door import check_kind
from dynamics_node.identification.checks import check, without_repeats
from dynamics_node.identification.decimation import factor_for
from dynamics_node.identification.filtering import default_cutoff, smooth
from dynamics_node.identification.recording import RawRecording, Recording, of_joints
from dynamics_node.identification.units import check_speeds, check_torques
from dynamics_node.model.checks import at_least_zero, flag, positive


class Prepared(NamedTuple):
    """A recording that has passed all checks."""

    recording: Recording
    cutoff: float        # below which q, v and a are known [Hz]
    factor: int          # by which torques and regressors are to be decimated, see decimation.py
    warnings: tuple      # texts


def prepare(robot, raw, cutoff=None, min_duration=5.0, all_move=True):
    """Return the recording of the robot's joints, in its order, checked and smoothed.

    :param raw: a RawRecording; joints that the robot does not have are left out.
    :param cutoff: [Hz]; None takes `filtering.default_cutoff`.
    :param min_duration, all_move: see `checks.check`.
    :raise DynamicsError: why nothing can be learned from it, and what to record instead.
    """
    check_kind('raw', raw, RawRecording)
    min_duration, all_move = at_least_zero('min_duration', min_duration), flag('all_move', all_move)
    raw, twice = without_repeats(of_joints(robot, raw))
    warnings = [f'{twice} samples were recorded twice'] if twice else []
    warnings += check(robot, raw, min_duration, all_move)
    cutoff = default_cutoff(raw) if cutoff is None else positive('cutoff', cutoff)
    recording = smooth(raw, cutoff)
    check_speeds(robot, recording)
    warnings += check_torques(robot, recording)
    return Prepared(recording, cutoff, factor_for(recording.time, cutoff), tuple(warnings))
