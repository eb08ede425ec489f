"""Compute the rates of a robot's state in local coordinates."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dynamics_node.checks import LARGEST
from dynamics_node.errors import DynamicsError
from dynamics_node.model import local_coordinates
from dynamics_node.model.model import Model

Acceleration = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


class Diverges(DynamicsError):
    """The velocity of a motion grows without bound."""


class EquationsOfMotion(NamedTuple):
    """The differential equation of a robot: dx/dt = rate(x) v, dv/dt = a(t, q, v)."""

    model: Model
    acceleration: Acceleration   # f(t, q, v), of one state or a batch

    def rates(self, t: float, q0: np.ndarray, x: np.ndarray, v: np.ndarray
              ) -> tuple[np.ndarray, np.ndarray]:
        """Return (dx/dt, dv/dt) at the local coordinates x about q0.

        :raise Diverges: the velocity grows without bound.
        """
        if not (np.abs(v) < LARGEST).all():
            raise Diverges(
                f'the motion diverges at t = {t:.6g} s; expected torques that keep it bounded and, '
                "with method 'rk4', a shorter step; 'radau' if friction or gains are stiff")
        q = local_coordinates.moved(self.model, q0, x)
        return local_coordinates.rate(self.model, q, x, v), self.acceleration(t, q, v)
