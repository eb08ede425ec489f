"""Request the kernels that a control law needs, and refuse torques while some are missing.

NumPy is too slow for a torque.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from dynamics_node.control.controller import Controller
from dynamics_node.control.prediction import STEP, StatePredictor
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot


def request_kernels(controller: Controller, q: np.ndarray, motion: Callable[[], Any]) -> None:
    """Request the kernels of a law, with and without payload, by computing a torque at q, at rest.

    :param motion: returns the sample of a reference that holds q; called if the law needs one.
    """
    robot = controller.robot
    variants = [controller]
    if not robot.payloads:
        link = robot.model.bodies[-1].name
        variants.append(controller.for_robot(robot.with_payload('', link, 0.0)))
    for each in variants:
        with suppress(DynamicsError):   # q may be no valid state, for instance of loops
            each.holding_torque(q)
            each.braking_torque(q, np.zeros(robot.nv), np.zeros(robot.nv), 1.0)
            if each.needs_reference:
                each.torque(q, np.zeros(robot.nv), motion())
            if each.can_predict:   # last: it fails where the mass matrix is singular
                StatePredictor(each, np.ones(robot.nv, dtype=bool), q, np.zeros(robot.nv)).advance(
                    STEP, np.zeros(robot.nv))


def missing_kernels(robot: Robot) -> str:
    """Return why kernels are missing; '' if none are."""
    if not robot.compilation_enabled:
        return ''
    if robot.compiling:
        return (f'{robot.compiling} kernels of the torque are being compiled: try again in a '
                'moment')
    for reason in robot.compile_failures:
        return (f'a kernel of the torque could not be made: {reason}. With compile: false torques '
                'are computed in NumPy')
    return ''


def check_kernels(robot: Robot) -> None:
    """Raise a DynamicsError while kernels are missing."""
    reason = missing_kernels(robot)
    if reason:
        raise DynamicsError(reason)
