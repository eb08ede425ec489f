"""Test that kernels of expressions, screws and rolling agree with NumPy."""

import numpy as np
import pytest
from support.agreement_of_paths import without_numpy
from support.differences import relative
from support.random_loops import random_pose
from support.tolerances import SOLVED

from dynamics_node import Constraint, Robot, RobotLink
from dynamics_node.kernels.keys import has_kernel, key_of


@pytest.fixture
def robot(monkeypatch):
    """A wheel on an arm that hangs on a slide."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    links = [RobotLink('base')]
    for name, joint, axis in (('slide', 'prismatic', (1, 0, 0)), ('arm', 'revolute', (0, 0, 1)),
                              ('lever', 'revolute', (0, 1, 0)), ('wheel', 'revolute', (1, 0, 0))):
        place = np.eye(4)
        place[:3, 3] = 0.1, 0.2, 0.05
        links.append(RobotLink(name, links[-1].name, joint, place, axis, mass=1.0,
                               com=(0.1, 0.0, 0.02), inertia=0.02 * np.eye(3)))
    return Robot.from_links(links)


def test_compiled_rows_equal_those_in_numpy(robot):
    """Residual, A and gamma of a batch."""
    rng = np.random.default_rng(3)
    place = {'pose': random_pose(rng), 'to_pose': random_pose(rng)}
    constraints = (
        Constraint('thread', 'screw', 'lever', axis=(1, 2, 2), pitch=0.3, **place),
        Constraint('wheel', 'rolling_wheel', 'wheel', radius=0.2, axle=(1, 1, 0), **place),
        Constraint('ball', 'rolling_ball', 'wheel', 'slide', radius=0.2, **place),
        Constraint('cam', 'expression', joints=('slide_joint', 'arm_joint'),
                   expression='q1 - 0.1 * cos(q2)**3 / (2 + tan(q1))'),
        Constraint('blade', 'expression', joints=('slide_joint', 'arm_joint'),
                   expression='v1 * sin(q2) + 2 * v2'))
    q, v = rng.normal(size=(2, 5, 4))
    key = key_of(robot.model, 'constraint_rows', (), False, constraints)
    robot._dispatcher.compile([key], wait=True)
    with without_numpy(robot):
        found = robot.constraint_rows(q, v, constraints)
    for got, want in zip(found, Robot(robot.model, compile=False).constraint_rows(
            q, v, constraints), strict=True):
        assert relative(got, want) < SOLVED


def test_a_python_function_has_no_kernel(robot):
    """The cache on disk could not tell it from another one; the result is that of the text."""
    joints, q, v = ('slide_joint', 'arm_joint'), np.full(4, 0.2), np.full(4, 0.3)
    text, function = (Constraint('cam', 'expression', joints=joints, expression=expression)
                      for expression in ('q1 * sin(q2)', lambda q: q[0] * np.sin(q[1])))
    assert has_kernel(robot.model, 'constraint_rows', (text,))
    assert not has_kernel(robot.model, 'constraint_rows', (function,))
    for got, want in zip(*(robot.constraint_rows(q, v, [each]) for each in (text, function)),
                         strict=True):
        assert relative(got, want) < SOLVED
