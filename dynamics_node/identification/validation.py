"""Validate parameters on samples that were not fitted."""

from typing import NamedTuple

import numpy as np

from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.sequential_qr import Tick, no_tick, residuals
from dynamics_node.robot.robot import Robot


class Residuals(NamedTuple):
    """RMS of measured minus predicted torque, per joint, (nv,) [N m or N].

    With loops: per independent joint.
    """

    train_before: np.ndarray
    train_after: np.ndarray
    validation_before: np.ndarray
    validation_after: np.ndarray
    validation_torque: np.ndarray   # RMS of the measured torque itself

    @property
    def gain(self) -> float:
        """RMS before over RMS after, of all joints on the validation samples."""
        before, after = (np.sqrt(np.mean(rms ** 2))
                         for rms in (self.validation_before, self.validation_after))
        return float(before / after) if after > 0.0 else float('inf')


def split(recording: Recording, share: float) -> tuple[Recording, Recording]:
    """Return (train, validation): the end of the recording is for validation.

    One contiguous part: random samples would be correlated with their fitted neighbours.

    :param share: of the samples that are for validation.
    """
    first = round(len(recording.time) * (1.0 - share))
    return recording.rows(slice(0, first)), recording.rows(slice(first, None))


def compare(robot: Robot, base: BaseParameters, train: Recording, validation: Recording,
            before: np.ndarray, after: np.ndarray, tick: Tick = no_tick) -> Residuals:
    """Return the Residuals of two parameter vectors, (size,) each."""
    estimates = base.values(before), base.values(after)
    fitted = residuals(robot, base, train, *estimates, tick=lambda s: tick(0.75 * s))
    unseen = residuals(robot, base, validation, *estimates, tick=lambda s: tick(0.75 + 0.25 * s))
    measured = validation.tau[:, base.rows]
    return Residuals(*(np.sqrt(np.mean(x ** 2, axis=0)) for x in (*fitted, *unseen, measured)))
