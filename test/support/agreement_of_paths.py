"""Compare a compiled robot with the same robot in NumPy."""

from contextlib import contextmanager

from dynamics_node import Robot
from dynamics_node.kernels.build import AGREEMENT
from dynamics_node.robot.dispatch import Caller
from support.differences import relative


def ready(robot, calls):
    """Return the robot with the kernels of some calls compiled."""
    robot._dispatcher.compile([call.key for call in calls], wait=True)
    return robot


def installed(robot):
    """Return the names of the methods that a kernel has replaced on this object."""
    return {name for name, value in vars(robot).items() if isinstance(value, Caller)}


@contextmanager
def without_numpy(robot):
    """Make every call that is computed in NumPy fail."""
    def refuse(*_, **__):
        raise AssertionError('computed in NumPy')
    robot._dispatcher._in_numpy = refuse
    try:
        yield
    finally:
        del robot._dispatcher._in_numpy


def both_paths_agree(robot, calls, agreement=AGREEMENT):
    """Compile the kernels of some calls, and compare with the same robot without a compiler."""
    in_numpy = Robot(robot.model, compile=False)
    ready(robot, calls)
    for call in calls:
        with without_numpy(robot):
            results = call.results(robot)
        for got, want in zip(results, call.results(in_numpy), strict=True):
            assert got.shape == want.shape, call
            assert relative(got, want) < agreement, call


def outcome(function, *args, **named):
    """Return what a call gives: ('ok', result), or the error's type and text."""
    try:
        return 'ok', function(*args, **named)
    except Exception as error:
        return type(error).__name__, str(error)
