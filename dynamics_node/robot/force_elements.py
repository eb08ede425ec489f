"""Compute the torques of springs, and lengths, moment arms and forces of linear actuators."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.algorithms.line_motion import ActuatorMotion, actuator_motion
from dynamics_node.errors import DynamicsError
from dynamics_node.model.configuration import dof_names
from dynamics_node.model.force_elements import Actuator, check_actuators
from dynamics_node.model.model import Model
from dynamics_node.robot.dispatch import Dispatcher

# Torques that no forces produce, relative to the largest torque: rounding leaves 1e-15.
UNREACHED = 1e-9


class ForceElements:
    """The methods of a Robot for springs and linear actuators."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher, self._model = dispatcher, dispatcher.model

    def spring_torque(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return the torques that balance springs and their dampers, (nv,)."""
        return self._dispatcher.call('spring_torque', q=q, v=v)

    def actuator_motion(self, q: ArrayLike, v: ArrayLike,
                        actuators: Sequence[Actuator] | None = None) -> ActuatorMotion:
        """Return (length, rate, moment_arms) of linear actuators, such as hydraulic cylinders.

        length (k,) [m], rate (k,) [m/s], moment_arms (k, nv) [m/rad or 1]: forces that extend them
        have the torques tau = moment_arms' force; in NumPy.

        :param actuators: None for the robot's own.
        """
        valid = self._checked(actuators)
        return ActuatorMotion(*self._dispatcher.call_numpy(
            lambda model, q, v: tuple(actuator_motion(model, q, v, valid)), q=q, v=v))

    def actuator_forces(self, q: ArrayLike, tau: ArrayLike,
                        actuators: Sequence[Actuator] | None = None) -> np.ndarray:
        """Return the forces that exert the torques tau, the smallest if there are many, (k,) [N].

        :param actuators: None for the robot's own.
        :raise DynamicsError: no forces of these actuators exert such torques; it names a joint.
        """
        valid = self._checked(actuators)

        def forces(model: Model, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
            arms = actuator_motion(model, q, np.zeros(model.nv), valid).moment_arms
            force = np.linalg.lstsq(arms.T, tau, rcond=None)[0]
            left = np.abs(arms.T @ force - tau)
            if left.max(initial=0.0) > UNREACHED * np.abs(tau).max(initial=0.0):
                raise DynamicsError(
                    f"the actuators leave {left.max():.3g} of the torque of "
                    f"'{dof_names(model)[int(left.argmax())]}'; expected torques that their "
                    'forces exert, zero at joints without actuator')
            return force
        return self._dispatcher.call_numpy(forces, q=q, tau=checks.check_array(
            'tau', tau, self._model.nv))

    def _checked(self, actuators: Sequence[Actuator] | None) -> tuple[Actuator, ...]:
        return self._model.actuators if actuators is None else check_actuators(self._model,
                                                                               actuators)
