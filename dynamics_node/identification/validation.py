"""Validate parameters on samples that were not fitted."""

from typing import NamedTuple

import numpy as np

from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.loop_equations import project
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.sequential_qr import Tick, no_tick, residuals
from dynamics_node.robot.robot import Robot


class Residuals(NamedTuple):
    """RMS of measured minus predicted torque, per joint, (nv,) [N m or N].

    With loops: per independent joint. Before: of the robot itself, with all its terms of friction.
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

    :param share: share of the samples that are for validation.
    """
    first = round(len(recording.time) * (1.0 - share))
    return recording.rows(slice(0, first)), recording.rows(slice(first, None))


def compare(robot: Robot, base: BaseParameters, train: Recording, validation: Recording,
            after: np.ndarray, tick: Tick = no_tick) -> Residuals:
    """Return the Residuals of a robot and of a parameter vector, (size,).

    :param train, validation: without the torques of springs.
    """
    found = base.values(after)
    fitted = residuals(robot, base, train, found, tick=lambda s: tick(0.75 * s))
    unseen = residuals(robot, base, validation, found, tick=lambda s: tick(0.75 + 0.25 * s))
    left = (_robot_residual(robot, base, train), *fitted,
            _robot_residual(robot, base, validation), *unseen, validation.tau[:, base.rows])
    return Residuals(*(np.sqrt(np.mean(x ** 2, axis=0)) for x in left))


def _robot_residual(robot: Robot, base: BaseParameters, recording: Recording) -> np.ndarray:
    """Return measured torque minus that of the robot: the fitted friction may lack its terms."""
    q, v, a = recording.q, recording.v, recording.a
    torque = robot.inverse_dynamics(q, v, a)
    if base.loops is not None:
        return recording.tau[:, base.rows] - project(base.loops, q, torque)
    if robot.springs:
        torque = torque - robot.spring_torque(q, v)
    return (recording.tau - torque)[:, base.rows]
