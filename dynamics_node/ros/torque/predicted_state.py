"""Predict the joint state from the last valid one, and compute the torque that brakes."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.control.braking import greatest_rate
from dynamics_node.control.controller import Controller
from dynamics_node.control.prediction import MOST_STEPS, StatePredictor
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot
from dynamics_node.safety.records import LastValid, Measured


class Prediction:
    """The joint state since the last valid one, predicted by the model."""

    def __init__(self, most_steps: int = MOST_STEPS) -> None:
        """Begin.

        :param most_steps: greatest number of steps of the integration, between two states.
        """
        self._most_steps = most_steps
        self._start: Any = None   # position of the last valid state, which was predicted from
        self._predictor: Any = None

    def at(self, last_valid: LastValid, controller: Controller,
           driven: np.ndarray | None) -> tuple[Measured, float]:
        """Return the predicted state, and the time [s] since the one predicted before.

        :param driven: whether the commands drive the joint, (nv,); None: another robot is driven.
        :raise DynamicsError: the motion of this robot cannot be predicted.
        """
        if driven is None or not controller.can_predict:
            raise DynamicsError('the motion of this robot cannot be predicted')
        if self._start is not last_valid.position:
            self._start = last_valid.position
            self._predictor = StatePredictor(controller, driven, np.array(last_valid.position),
                                             np.array(last_valid.v), self._most_steps)
        predictor, before = self._predictor, self._predictor.time
        predictor.advance(last_valid.seconds, np.array(last_valid.torque))
        return Measured(nan, predictor.q, predictor.v), predictor.time - before


def without_kernels(controller: Controller) -> Controller | None:
    """Return a controller that predicts in NumPy, for another process; None if none can."""
    return controller.for_robot(Robot(controller.robot.model, compile=False)) if (
        controller.can_predict) else None


def braking_torque(controller: Controller, state: Measured, effort: ArrayLike,
                   period: float) -> np.ndarray | None:
    """Return the torque that brakes the robot, None if it cannot be computed.

    :param effort: limits, (nv,).
    :param period: [s] between two torques.
    """
    try:
        return controller.braking_torque(state.q, state.v, effort, greatest_rate(period))
    except DynamicsError:
        return None
