"""Do the parameters hold on a motion that they were not fitted to?"""

from typing import NamedTuple

import numpy as np

from dynamics_node.identification.sequential_qr import residuals


class Residuals(NamedTuple):
    """RMS of measured minus predicted torque, per joint, (nv,) [N m or N].

    Of a robot with loops per independent joint.
    """

    train_before: np.ndarray
    train_after: np.ndarray
    validation_before: np.ndarray
    validation_after: np.ndarray

    @property
    def gain(self):
        """How many times smaller the residual is on the motion that was held back, overall."""
        before, after = (np.sqrt(np.mean(rms ** 2))
                         for rms in (self.validation_before, self.validation_after))
        return float(before / after) if after > 0.0 else float('inf')


def split(recording, share):
    """Return (train, validation): the end is held back.

    One stretch, not samples here and there: neighbours are so alike that they would know the
    answer.

    :param share: of the samples that is held back.
    """
    first = round(len(recording.time) * (1.0 - share))
    return recording.rows(slice(0, first)), recording.rows(slice(first, None))


def compare(robot, base, train, validation, before, after, tick=lambda share: None):
    """Return the Residuals of two sets of parameters, (size,) each."""
    estimates = base.values(before), base.values(after)
    trained = residuals(robot, base, train, *estimates, tick=lambda s: tick(0.75 * s))
    held = residuals(robot, base, validation, *estimates, tick=lambda s: tick(0.75 + 0.25 * s))
    return Residuals(*(np.sqrt(np.mean(left ** 2, axis=0)) for left in (*trained, *held)))
