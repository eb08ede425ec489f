"""Import modules that need ROS 2, or say how to install what is missing."""

import importlib
from types import ModuleType

from dynamics_node.errors import DynamicsError

NEEDED = ('rclpy', 'dynamics_node.ros', 'dynamics_node.srv')


def import_ros(module: str, purpose: str) -> ModuleType:
    """Return a module that needs ROS; raise a DynamicsError that names the part that is missing.

    :param purpose: subject of the message, such as "the command 'call'".
    """
    try:
        for part in NEEDED:
            importlib.import_module(part)
    except ImportError as error:
        raise DynamicsError(
            f'{purpose} needs ROS 2, and this installation has none ({error}). Source the setup '
            'file of a ROS 2 workspace with dynamics_node, or install it as README.md says under '
            '"Install"') from error
    return importlib.import_module(module)
