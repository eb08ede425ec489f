"""Make configurations of a robot, and move along them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.checks import finite
from dynamics_node.model import configuration
from dynamics_node.robot import arguments
from dynamics_node.robot.dispatch import Dispatcher


class Configurations:
    """The methods of a Robot that make, integrate and compare configurations."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher, self._model = dispatcher, dispatcher.model

    def neutral(self) -> np.ndarray:
        """Return q = 0 within the limits, quaternions (0, 0, 0, 1), (nq,)."""
        return configuration.neutral(self._model)

    def random_configuration(self, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """Return a configuration within the limits, (nq,).

        :param rng: a numpy Generator, or a seed.
        """
        return configuration.random_configuration(self._model, checks.check_generator(rng))

    def integrate(self, q: ArrayLike, v: ArrayLike, step: float = 1.0) -> np.ndarray:
        """Return the configuration reached from q with the constant velocity v after `step` [s]."""
        step = float(finite('step', step, ()))
        return self._dispatcher.rows(
            lambda model, q, v: configuration.integrate(model, q, v, step),
            q=arguments.check_configuration(self._model, q),
            v=checks.check_array('v', v, self._model.nv))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """Return v with integrate(q0, v) = q1, (nv,)."""
        return self._dispatcher.rows(configuration.difference,
                                     q0=arguments.check_configuration(self._model, q0, name='q0'),
                                     q1=arguments.check_configuration(self._model, q1, name='q1'))
