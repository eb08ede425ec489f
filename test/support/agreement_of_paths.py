"""Ask a compiled robot and the same robot in NumPy, and compare."""

from contextlib import contextmanager

from dynamics_node import Robot
from dynamics_node.kernels.build import AGREEMENT
from support.differences import relative


def ready(robot, questions):
    """Return the robot with the kernels of some questions compiled."""
    robot._dispatcher.compile([question.key for question in questions], wait=True)
    return robot


@contextmanager
def without_numpy(robot):
    """Let nothing but kernels answer."""
    def refuse(*_, **__):
        raise AssertionError('answered in NumPy')
    robot._dispatcher._in_numpy = refuse
    try:
        yield
    finally:
        del robot._dispatcher._in_numpy


def both_paths_agree(robot, questions, agreement=AGREEMENT):
    """Compile the questions, ask them, and compare with the same robot without a compiler."""
    in_numpy = Robot(robot.model, compile=False)
    ready(robot, questions)
    for question in questions:
        with without_numpy(robot):
            answers = question.answer(robot)
        for got, want in zip(answers, question.answer(in_numpy), strict=True):
            assert got.shape == want.shape, question
            assert relative(got, want) < agreement, question


def outcome(function, *args, **named):
    """Return what a call gives: ('ok', answer), or the error's type and text."""
    try:
        return 'ok', function(*args, **named)
    except Exception as error:
        return type(error).__name__, str(error)
