"""Test kinematics and momentum on random trees of every joint type."""

import numpy as np
import pytest
from support import random_trees
from support.differences import along, relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

FRAMES = ('base', 'l0', 'l3', 'l5', 'l10')  # l5 is fixed to another link


def test_jacobian_is_the_derivative_of_the_pose(tree):
    """J v = (dp/dt, omega) in world axes, and in the frame's axes when local."""
    robot, _, q, v, *_ = tree
    for frame in FRAMES:
        T = robot.frame_pose(q, frame)
        rate = along(robot, lambda x, frame=frame: robot.frame_pose(x, frame), q, v)
        W = rate[:3, :3] @ T[:3, :3].T
        twist = np.array([*rate[:3, 3], W[2, 1], W[0, 2], W[1, 0]])
        assert relative(robot.jacobian(q, frame) @ v, twist) < RATE_BY_DIFFERENCES
        turned = np.kron(np.eye(2), T[:3, :3]) @ robot.jacobian(q, frame, local=True)
        assert relative(turned, robot.jacobian(q, frame)) < EXACT_MATHS


def test_frame_twist_is_the_jacobian_times_velocity(tree):
    """V = J v."""
    robot, _, q, v, *_ = tree
    for frame in FRAMES:
        assert relative(robot.frame_twist(q, v, frame), robot.jacobian(q, frame) @ v) < EXACT_MATHS


def test_jacobian_rate_is_the_rate_of_the_jacobian(tree):
    """dJ/dt along v, in both axes."""
    robot, _, q, v, *_ = tree
    for frame in FRAMES:
        for local in (False, True):
            rate = along(robot, lambda x, f=frame, on=local: robot.jacobian(x, f, on), q, v)
            got = robot.jacobian_rate(q, v, frame, local)
            assert relative(got, rate) < RATE_BY_DIFFERENCES


def test_jacobian_transpose_maps_wrenches(tree):
    """A wrench in the frame's axes needs J' F at the joints."""
    robot, rng, q, v, a, *_ = tree
    for frame in FRAMES:
        wrench = rng.normal(size=6)
        relief = (robot.inverse_dynamics(q, v, a)
                  - robot.inverse_dynamics(q, v, a, {frame: wrench}))
        mapped = robot.jacobian(q, frame, local=True).T @ wrench
        assert relative(relief, mapped) < EXACT_MATHS


def test_linear_momentum_is_mass_times_velocity_of_the_centre(tree):
    """P = m dc/dt."""
    robot, _, q, v, *_ = tree
    velocity = along(robot, robot.center_of_mass, q, v)
    assert relative(robot.momentum(q, v)[:3], robot.total_mass * velocity) < RATE_BY_DIFFERENCES


@pytest.mark.parametrize('mimic', [False, True])
def test_momentum_rate_is_the_external_force(mimic):
    """On a floating base: weight and wrenches, and their moments about the centre of mass."""
    robot, _, q, v, _, tau, wrenches = random_trees.make(random_trees.Tree(4, 'floating', mimic))
    tau[robot.model.joint('floating_base').v] = 0.0  # nothing drives the base
    a = robot.forward_dynamics(q, v, tau, wrenches)
    # momentum is linear in v, so its part along a is exact
    rate = along(robot, lambda x: robot.momentum(x, v), q, v) + robot.momentum(q, a)
    center = robot.center_of_mass(q)
    force, moment = robot.total_mass * robot.gravity, np.zeros(3)
    for frame, wrench in wrenches.items():
        T = robot.frame_pose(q, frame)
        f = T[:3, :3] @ wrench[:3]
        force = force + f
        moment = moment + T[:3, :3] @ wrench[3:] + np.cross(T[:3, 3] - center, f)
    assert relative(rate, [*force, *moment]) < RATE_BY_DIFFERENCES


def test_potential_energy_is_the_weight_times_the_height_of_the_centre(tree):
    """U = -m g'c."""
    robot, _, q, *_ = tree
    expected = -robot.total_mass * robot.gravity @ robot.center_of_mass(q)
    assert relative(robot.potential_energy(q), expected) < EXACT_MATHS
