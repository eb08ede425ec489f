"""Test laws of motion over time: energy, momentum, closed forms, loops that stay closed."""

import numpy as np
import pytest
from support.bundled_mechanisms import standing
from support.random_trees import TREES, make
from support.real_robots import ROBOTS

from dynamics_node import Robot
from dynamics_node.example_robots import MECHANISMS

MASS, LENGTH, GRAVITY = 2.0, 0.5, 9.81
# Energy drift with steps of 1 ms, relative to the greatest kinetic energy. The greatest of these
# robots is 2.4e-10, of a double pendulum with links of centimetres.
DRIFT = 1e-9


def pendulum(**options):
    """Return a point mass on a rod without mass, that swings about y and hangs at q = 0."""
    return Robot.from_urdf(
        f'<robot name="pendulum"><link name="base"/><link name="bob"><inertial>'
        f'<origin xyz="0 0 {-LENGTH}"/><mass value="{MASS}"/><inertia ixx="0" iyy="0" izz="0" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="pivot" type="continuous">'
        '<parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint></robot>', **options)


def energy(robot, motion):
    return robot.kinetic_energy(motion.q, motion.v) + robot.potential_energy(motion.q)


def drift(robot, motion):
    """Return the spread of the energy, relative to the greatest kinetic energy."""
    return np.ptp(energy(robot, motion)) / robot.kinetic_energy(motion.q, motion.v).max()


def unforced(robot, q, v, time, **settings):
    return robot.simulate(q, v, np.zeros(robot.nv), time, **settings)


# Energy ------------------------------------------------------------------------------------------

def test_a_pendulum_keeps_its_energy_for_a_minute(compiler_on):
    """From the horizontal: fifty swings with steps of 1 ms."""
    robot = pendulum()
    assert drift(robot, unforced(robot, [0.5 * np.pi], [0.0], np.linspace(0, 60, 61))) < DRIFT


@pytest.mark.parametrize('which', TREES, ids=str)
def test_random_trees_keep_their_energy(which):
    """Every joint type, armature, mimic joints."""
    tree = make(which, friction=False)
    motion = unforced(tree.robot, tree.q, tree.v, [0.0, 0.005, 0.01])
    assert np.ptp(tree.robot.kinetic_energy(motion.q, motion.v)) > 1e-3
    assert drift(tree.robot, motion) < DRIFT


@pytest.mark.parametrize('example', ROBOTS, ids=str)
def test_real_robots_keep_their_energy(example):
    robot = Robot.from_urdf(example.urdf, base=example.base, friction=False)
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng), 0.5 * rng.normal(size=robot.nv)
    assert drift(robot, unforced(robot, q, v, [0.0, 0.005, 0.01])) < DRIFT


@pytest.mark.parametrize('which', TREES[:4], ids=str)
def test_the_work_of_torques_and_friction_is_the_change_of_energy(which):
    """By Simpson's rule over the power, (tau - friction) v; dry friction is made smooth for it."""
    tree = make(which, friction_speed=1.0)
    time = np.linspace(0.0, 0.01, 21)
    found = tree.robot.simulate(tree.q, tree.v, 10.0 * tree.tau, time, step=0.5e-3)
    power = ((found.tau - tree.robot.friction_torque(found.v)) * found.v).sum(axis=-1)
    weights = np.r_[1.0, np.tile([4.0, 2.0], 10)[:-1], 1.0] * (time[1] - time[0]) / 3.0
    change = np.diff(energy(tree.robot, found)[[0, -1]])
    np.testing.assert_allclose(weights @ power, change, rtol=1e-6)


# Momentum and closed forms -----------------------------------------------------------------------

@pytest.mark.parametrize('which', [tree for tree in TREES if tree.base == 'floating'], ids=str)
@pytest.mark.parametrize('method', ['rk4', 'dop853'])
def test_a_floating_robot_keeps_its_momentum(which, method):
    """Without gravity and rotors, under any torques of its joints, which are internal."""
    tree = make(which, gravity=(0, 0, 0), armature={}, friction_speed=1.0)
    tau = np.r_[np.zeros(6), tree.tau[6:]]
    found = tree.robot.simulate(tree.q, tree.v, tau, [0.0, 0.01, 0.02], method=method)
    momentum = tree.robot.momentum(found.q, found.v)
    np.testing.assert_allclose(momentum, momentum[[0, 0, 0]], rtol=1e-8, atol=1e-8)
    centre = tree.robot.center_of_mass(found.q)
    np.testing.assert_allclose(np.diff(centre, axis=0) / 0.01,
                               momentum[1:, :3] / tree.robot.total_mass, atol=1e-8)


def test_small_swings_are_harmonic(compiler_on):
    """Amplitude A: the period is that of the linear equation, but for a share of A^2 / 16."""
    amplitude, w = 1e-4, np.sqrt(GRAVITY / LENGTH)
    time = np.linspace(0.0, 5.0, 51)
    found = unforced(pendulum(), [amplitude], [0.0], time)
    np.testing.assert_allclose(found.q[:, 0], amplitude * np.cos(w * time), atol=1e-6 * amplitude)


@pytest.mark.parametrize('method', ['rk4', 'dop853', 'radau'])
def test_a_symmetric_top_precesses(method, compiler_on):
    """Euler: the body's angular velocity turns about its axis at (1 - I3 / I1) w3."""
    text = ('<robot name="top"><link name="top"><inertial><mass value="1"/><inertia ixx="0.2" '
            'iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>')
    robot = Robot.from_urdf(text, base='floating', gravity=(0, 0, 0))
    time = np.linspace(0.0, 3.0, 7)
    found = unforced(robot, robot.neutral(), [1.0, 0, 0, 1.0, 0.0, 8.0], time, method=method,
                     tolerance=1e-10)
    angle = (0.3 / 0.2 - 1.0) * 8.0 * time
    np.testing.assert_allclose(found.v[:, 3:], np.transpose(
        [np.cos(angle), np.sin(angle), 8.0 + 0.0 * time]), atol=1e-7)
    np.testing.assert_allclose(found.q[:, :3], np.outer(time, [1.0, 0.0, 0.0]), atol=1e-7)


# Loops -------------------------------------------------------------------------------------------

@pytest.mark.parametrize('name', ['four_bar', 'slider_crank', 'five_bar'])
def test_loops_stay_closed_and_keep_the_energy(name, compiler_on):
    """For a second of free motion: joints to 1e-8 m, the energy to a millionth."""
    mechanism = MECHANISMS[name]
    robot = Robot.from_urdf(mechanism.urdf, loops=mechanism.loops, friction=False)
    q, v, _ = standing(robot.model, robot.loops.constraints, seed=0)
    found = unforced(robot, q, v, np.linspace(0.0, 1.0, 21))
    rows = robot.constraint_rows(found.q, found.v)
    assert np.abs(rows.residual).max() < 1e-8
    assert np.abs(np.einsum('tij,tj->ti', rows.A, found.v)).max() < 1e-6
    assert np.ptp(robot.kinetic_energy(found.q, found.v)) > 0.1
    assert drift(robot, found) < 1e-6
