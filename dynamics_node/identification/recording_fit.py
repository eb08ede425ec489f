"""What does a driver's recording say about the robot? Checks, filter and fit together."""

from typing import NamedTuple

from dynamics_node.checks import check_callable, check_kind
from dynamics_node.identification.preparation import Prepared, prepare
from dynamics_node.identification.robot_fit import Identification, IdentificationOptions, identify

PREPARED = 0.1    # share of the work that checks and filters are


class IdentifiedRecording(NamedTuple):
    """An identification, and the recording it was made of."""

    result: Identification
    prepared: Prepared

    @property
    def warnings(self):
        """About the recording and the result."""
        return (*self.prepared.warnings, *self.result.warnings)


def identify_recording(robot, raw, options=None, cutoff=None, progress=None, tell=None):
    """Return what is IdentifiedRecording by a RawRecording.

    :param options: IdentificationOptions; the decimation is chosen here, by the cutoff.
    :param cutoff: of the filter on positions [Hz]; None takes it from the spectrum of the motion.
    :param progress, tell: see `identify`.
    :raise DynamicsError: why nothing can be said, and what to record instead.
    """
    check_callable('progress', progress)
    options = (IdentificationOptions() if options is None else
               check_kind('options', options, IdentificationOptions))
    say = progress or (lambda share, text: None)
    say(0.0, 'checking and filtering the recording')
    prepared = prepare(robot, raw, cutoff)
    options = options._replace(decimation=prepared.factor)
    result = identify(robot, prepared.recording, options,
                     lambda share, text: say(PREPARED + (1.0 - PREPARED) * share, text), tell)
    return IdentifiedRecording(result, prepared)
