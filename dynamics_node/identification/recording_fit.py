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
    validation: Prepared | None = None   # of a separate recording

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the recording and the result."""
        others = () if self.validation is None else tuple(
            f'validation: {text}' for text in self.validation.warnings)
        missing = self.result.missing_motion
        return (*self.prepared.warnings, *others, *self.result.warnings,
                *([f'to determine all base parameters, record {missing}'] if missing else []))


def identify_recording(robot: Robot, raw: RawRecording,
                       options: IdentificationOptions | None = None, cutoff: float | None = None,
                       progress: Callable[[float, str], None] | None = None,
                       on_fit: Callable[[float, float], None] | None = None,
                       validation: RawRecording | None = None) -> IdentifiedRecording:
    """Return the IdentifiedRecording of a raw recording.

    :param options: their decimation is not used: it follows from the cutoff.
    :param cutoff: cutoff of the filter on positions [Hz]; None: from the spectrum of the motion.
    :param progress, on_fit: see `identify`.
    :param validation: another recording, which is not fitted; None: the end of `raw`.
    :raise DynamicsError: the reason why the recording is useless, and what to record instead.
    """
    check_callable('progress', progress)
    check_callable('on_fit', on_fit)   # before the work, not after it
    options = (IdentificationOptions() if options is None else
               check_kind('options', options, IdentificationOptions))
    if validation is not None:
        check_kind('validation', validation, RawRecording)
    report = progress or (lambda share, text: None)
    report(0.0, 'checking and filtering the recording')
    prepared, delay = prepare_without_delay(robot, raw, cutoff)
    unseen = None if validation is None else _shifted(
        prepare(robot, validation, prepared.cutoff), delay)
    options = options._replace(decimation=prepared.factor)
    result = identify(robot, prepared.recording, options,
                      lambda share, text: report(PREPARATION + (1.0 - PREPARATION) * share, text),
                      on_fit, None if unseen is None else unseen.recording)
    return IdentifiedRecording(result, prepared, unseen)


def prepare_without_delay(robot: Robot, raw: RawRecording,
                          cutoff: float | None = None) -> tuple[Prepared, float]:
    """Return (the prepared recording with the delay of its efforts corrected, the delay [s])."""
    prepared = prepare(robot, raw, cutoff)
    delay = effort_delay(robot, prepared.recording, prepared.factor, prepared.loops)
    if not delay:
        return prepared, 0.0
    text = (f'efforts are {1e3 * abs(delay):.3g} ms {"late" if delay > 0.0 else "early"} against '
            'positions: corrected')
    return _shifted(prepared._replace(warnings=(*prepared.warnings, text)), delay), delay


def _shifted(prepared: Prepared, delay: float) -> Prepared:
    return prepared._replace(
        recording=advanced(prepared.recording, delay)) if delay else prepared
