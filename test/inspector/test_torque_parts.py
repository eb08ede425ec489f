"""Test the split of torques: the parts are the terms of the equation, and their sum is right."""

import numpy as np
import pytest
from support import small_robots
from support.differences import relative
from support.tolerances import EXACT_MATHS

from dynamics_node import Spring
from dynamics_node.inspector.torque_parts import torque_parts
from dynamics_node.robot.changes import without_payloads


@pytest.fixture(scope='module')
def moving():
    """Return a loaded tree with a mimic joint and a spring, and its state."""
    specimen = small_robots.tree(3, 'fixed', mimic=True, compile=False)
    robot = specimen.robot.with_payload('a', 'l2', 1.5, (0.1, 0.0, 0.2))
    robot = robot.with_payload('b', 'l0', 0.5)
    robot = robot.with_springs([Spring('s', joint='j2', stiffness=3.0, rest=0.1)])
    return robot, specimen.q, specimen.v, specimen.a


def test_the_sum_is_inverse_dynamics_less_the_external_torque(moving):
    robot, q, v, a = moving
    external = np.arange(robot.nv) - 1.0
    total = torque_parts(robot, q, v, a, external).total
    assert relative(total, robot.inverse_dynamics(q, v, a) - external) < EXACT_MATHS


def test_each_part_vanishes_with_its_cause(moving):
    """No gravity, no velocity, no acceleration, no payload, no spring."""
    robot, q, v, a = moving
    still = np.zeros(robot.nv)
    parts = torque_parts(without_payloads(robot).with_springs(()).with_gravity((0, 0, 0)),
                         q, still, still)
    assert not np.any(parts)
    assert np.any(torque_parts(robot, q, v, still).coriolis)
    assert np.any(torque_parts(robot, q, still, a).inertia)
    assert np.any(torque_parts(robot, q, v, still).friction)
    assert np.any(torque_parts(robot, q, still, still).springs)


def test_the_payload_part_is_linear_in_the_mass(moving):
    """Twice the point mass at the same place is twice the torque."""
    bare, q, v, a = without_payloads(moving[0]), *moving[1:]
    one, two = (torque_parts(bare.with_payload('m', 'l1', mass, (0.0, 0.1, 0.0)), q, v, a).payload
                for mass in (0.7, 1.4))
    assert relative(two, 2.0 * one) < EXACT_MATHS
