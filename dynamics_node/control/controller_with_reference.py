"""Keep the reference of a controller while the torque is blended to that of another mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.control.controller import Controller


class ControllerWithReference:
    """The torque of a controller along its own reference.

    :ivar robot, needs_reference: as in Controller.
    """

    def __init__(self, controller: Controller, reference: Any, clock: Callable[[], float]) -> None:
        """Take the reference, Reference or BlendedPoseSpline, and the clock of its times [s]."""
        self._controller, self._reference, self._clock = controller, reference, clock
        self.robot, self.needs_reference = controller.robot, controller.needs_reference

    def torque(self, q: ArrayLike, v: ArrayLike | None = None, motion: Any = None) -> np.ndarray:
        """Return the torque to send, (nv,); the motion of the other reference is ignored."""
        return self._controller.torque(q, v, self._reference.at(self._clock()))

    def holding_torque(self, q: ArrayLike) -> np.ndarray:
        """Return the torque that holds the arm where it is, see Controller.holding_torque."""
        return self._controller.holding_torque(q)


def with_own_reference(controller: Controller, reference: Any, after: Any,
                       clock: Callable[[], float]) -> Controller | ControllerWithReference:
    """Return a controller that keeps its reference while another mode begins.

    :param reference: reference of the controller; None if it needs none.
    :param after: reference of the other mode: if it is the same, the controller needs no own.
    """
    if not controller.needs_reference or after is reference:
        return controller
    return ControllerWithReference(controller, reference, clock)
