"""Request the kernels that a control law needs, and refuse torques while some are missing.

NumPy is too slow to compute torques at the rate of a controller.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import reduce
from typing import Any

import numpy as np

from dynamics_node.control.controller import Controller
from dynamics_node.control.prediction import STEP, StatePredictor
from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.keys import key_of
from dynamics_node.robot.robot import Robot


def request_kernels(controller: Controller, q: np.ndarray, motion: Callable[[], Any]) -> None:
    """Request the kernels of a law, with and without payload, by computing a torque at q, at rest.

    :param motion: returns the sample of a reference that holds q; called if the law needs one.
    """
    if controller.needs_reference:
        for each in _with_and_without_payload(controller):
            with suppress(DynamicsError):   # q may not be a valid state, for instance of loops
                each.torque(q, np.zeros(each.robot.nv), motion())
    request_stop_kernels(controller, q)


def request_stop_kernels(controller: Controller, q: np.ndarray) -> None:
    """Request the kernels that brake and hold a robot, with and without payload, at q."""
    for each in _with_and_without_payload(controller):
        with suppress(DynamicsError):
            _compute_stop(each, q)


def _compute_stop(controller: Controller, q: np.ndarray) -> None:
    zero = np.zeros(controller.robot.nv)
    controller.holding_torque(q)
    controller.braking_torque(q, zero, zero, 1.0)
    if controller.can_predict:   # last: it fails where the mass matrix is singular
        StatePredictor(controller, np.ones(len(zero), dtype=bool), q, zero).advance(STEP, zero)


def _with_and_without_payload(controller: Controller) -> tuple[Controller, Controller]:
    """Return the controller, and one without its payloads, or with one if it has none."""
    robot = controller.robot
    if not robot.payloads:
        other = robot.with_payload('', robot.model.bodies[-1].name, 0.0)
    else:
        other = reduce(lambda each, name: each.without_payload(name), robot.payloads, robot)
    return controller, controller.for_robot(other)


def same_kernels(before: Robot, after: Robot) -> bool:
    """Return whether a law needs the same kernels after a change of friction, payload or gravity.

    Requesting kernels takes as long as several torques. Kernels with and without payload are always
    requested together, and gravity is an input: only a change of friction can need other kernels.
    """
    first, second = (key_of(robot.model, 'inverse_dynamics') for robot in (before, after))
    return ((first.with_friction, first.with_friction_terms)
            == (second.with_friction, second.with_friction_terms))


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
