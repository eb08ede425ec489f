"""Compile one kernel of a robot before all others, for another process that needs it."""

from collections.abc import Callable

from dynamics_node.kernels.keys import KernelKey
from dynamics_node.robot.robot import Robot


def compile_urgently(robot: Robot, key: KernelKey, on_end: Callable[[], None]) -> None:
    """Compile the kernel of a key in the background; it is then in the cache.

    :param on_end: called when the kernel is ready or cannot be made, in the compiling thread.
    """
    kernels = robot._dispatcher.kernels
    if kernels is None or not kernels.request(key, urgent=True, on_end=on_end):
        on_end()
