"""Tell whether a robot computes a quantity by its kernel."""

from dynamics_node.kernels.keys import key_of
from dynamics_node.robot.robot import Robot


def kernel_ready(robot: Robot, *kernels: tuple) -> bool:
    """Return whether some kernels are ready.

    :param kernels: (name,) or (name, arguments) each, as in kernels.keys.key_of.
    """
    return robot._dispatcher.is_compiled([key_of(robot.model, *each) for each in kernels])
