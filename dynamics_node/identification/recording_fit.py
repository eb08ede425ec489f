"""Identify a robot from a raw recording: check, filter and fit."""

from collections.abc import Callable
from typing import NamedTuple

from dynamics_node.checks import check_callable, check_kind
from dynamics_node.identification.effort_delay import advanced, effort_delay
from dynamics_node.identification.preparation import Prepared, prepare
from dynamics_node.identification.recording import RawRecording
from dynamics_node.identification.robot_fit import Identification, IdentificationOptions, identify
from dynamics_node.robot.robot import Robot

PREPARATION = 0.1    # share of the work of checks and filters


class IdentifiedRecording(NamedTuple):
    """An identification and the prepared recording it was made from."""

    result: Identification
    prepared: Prepared

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the recording and the result."""
        return (*self.prepared.warnings, *self.result.warnings)


def identify_recording(robot: Robot, raw: RawRecording,
                       options: IdentificationOptions | None = None, cutoff: float | None = None,
                       progress: Callable[[float, str], None] | None = None,
                       on_fit: Callable[[float, float], None] | None = None) -> IdentifiedRecording:
    """Return the IdentifiedRecording of a raw recording.

    :param options: their decimation is not used: it follows from the cutoff.
    :param cutoff: of the filter on positions [Hz]; None: from the spectrum of the motion.
    :param progress, on_fit: see `identify`.
    :raise DynamicsError: the reason why the recording is useless, and what to record instead.
    """
    check_callable('progress', progress)
    check_callable('on_fit', on_fit)   # before the work, not after it
    options = (IdentificationOptions() if options is None else
               check_kind('options', options, IdentificationOptions))
    report = progress or (lambda share, text: None)
    report(0.0, 'checking and filtering the recording')
    prepared = _without_delay(robot, prepare(robot, raw, cutoff))
    options = options._replace(decimation=prepared.factor)
    result = identify(robot, prepared.recording, options,
                      lambda share, text: report(PREPARATION + (1.0 - PREPARATION) * share, text),
                      on_fit)
    return IdentifiedRecording(result, prepared)


def _without_delay(robot, prepared):
    """Return the recording with the delay of its efforts corrected."""
    delay = effort_delay(robot, prepared.recording, prepared.factor, prepared.loops)
    if not delay:
        return prepared
    text = (f'efforts are {1e3 * abs(delay):.3g} ms {"late" if delay > 0.0 else "early"} against '
            'positions: corrected')
    return prepared._replace(recording=advanced(prepared.recording, delay),
                             warnings=(*prepared.warnings, text))
