"""Load the kernels with which the watchdog brakes an arm, as soon as torques begin.

In NumPy a torque of an arm with seven joints takes 7 ms, in which a light wrist gains several
rad/s; with kernels it takes a tenth of that. The kernels come from the cache, as those of the
torque process do; nothing is compiled here. If a kernel is missing, NumPy is used.
"""

from __future__ import annotations

from importlib.util import find_spec

from dynamics_node.control.controller import Controller
from dynamics_node.errors import DynamicsError
from dynamics_node.kernels import delegated_compilation
from dynamics_node.kernels.keys import KernelKey
from dynamics_node.kernels.robot_kernels import RobotKernels, enabled
from dynamics_node.model.model import Model
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.torque.law_kernels import request_stop_kernels

MOST_IN_NUMPY = 12   # degrees of freedom whose motion NumPy predicts in time


class WatchdogKernels:
    """The kernels of the robot that the watchdog may have to brake."""

    def __init__(self) -> None:
        delegated_compilation.use(_compile_nothing)
        # With the structure of the robot that they are for: one value, since a thread replaces it.
        self._loaded: tuple[RobotKernels, str] | None = None

    def load(self, controller: Controller) -> None:
        """Load the kernels of a controller's robot; call this in a thread of normal priority.

        Without llvmlite there are none.
        """
        if not enabled() or find_spec('llvmlite') is None:
            return
        model = controller.robot.model
        structure = _structure(model)
        if self._loaded is None or structure != self._loaded[1]:
            kernels = RobotKernels(model)
            robot = Robot(model, kernels=kernels)
            request_stop_kernels(controller.for_robot(robot), robot.neutral())
            self._loaded = kernels, structure

    def used_by(self, controller: Controller) -> Controller | None:
        """Return a controller that computes with the kernels; in NumPy while they are not ready.

        None if the robot has too many joints for NumPy.
        """
        model, loaded = controller.robot.model, self._loaded
        if loaded is not None:
            kernels, structure = loaded
            if not (kernels.unfinished() or kernels.failures()) and _structure(model) == structure:
                return controller.for_robot(Robot(model, kernels=kernels))
        return controller if controller.robot.nv <= MOST_IN_NUMPY else None


def _structure(model: Model) -> str:
    """Return what the kernels depend on: the model without payloads, friction and gravity."""
    from dynamics_node.kernels.cache_name import name_of  # imports llvmlite
    return name_of(model, KernelKey('inverse_dynamics'))


def _compile_nothing(key: KernelKey) -> None:
    raise DynamicsError(f'the kernel of {key.kernel} is not in the cache; the watchdog compiles '
                        'none')
