"""Test motions of one joint: states, limits and words."""

import numpy as np
import pytest
from support.recorded_arm import THREE_JOINTS

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.excitation_limits import excitation_limits
from dynamics_node.identification.joint_motion import JointMotion, joint_motions

STEP = 1e-5    # [s] of a difference quotient


def test_rates_are_derivatives_and_the_other_joints_are_held():
    robot = Robot.from_urdf(THREE_JOINTS)
    motion = JointMotion('elbow', True, 0.3, 0.5, 1.7, 10.0, {'shoulder': 0.2, 'wrist': -0.4})
    time = np.linspace(0.0, 2.0, 21)
    q, v, a = motion.states(robot, time)
    before, after = (motion.states(robot, time + side * STEP) for side in (-1, 1))
    np.testing.assert_allclose(v, (after[0] - before[0]) / (2 * STEP), atol=1e-8)
    np.testing.assert_allclose(a, (after[1] - before[1]) / (2 * STEP), atol=1e-7)
    np.testing.assert_array_equal(q[:, [0, 2]], np.tile([0.2, -0.4], (21, 1)))
    assert not v[:, [0, 2]].any()


@pytest.mark.parametrize('seed', range(3))
def test_motions_are_within_the_limits(seed):
    """Positions, velocities and torques, of every joint of the bundled arm."""
    robot = Robot.from_urdf(ARM7)
    limits = excitation_limits(robot)
    pose = robot.random_configuration(np.random.default_rng(seed))
    motions = list(joint_motions(robot, limits, pose))
    assert {motion.joint for motion in motions if motion.fast} == set(robot.joint_names)
    for motion in motions:
        q, v, a = motion.states(robot, np.linspace(0.0, motion.period, 50))
        own = robot.joint_names.index(motion.joint)
        assert (limits.lower[own] <= q[:, own] + 1e-12).all()
        assert (q[:, own] - 1e-12 <= limits.upper[own]).all()
        assert np.abs(v[:, own]).max() <= limits.velocity[own] + 1e-12
        assert (np.abs(robot.inverse_dynamics(q, v, a)) <= 1.01 * limits.torque).all()


def test_a_motion_that_the_motors_cannot_hold_is_left_out():
    """The shoulder of a chain with a hundredth of its torque."""
    robot = Robot.from_urdf(THREE_JOINTS)
    limits = excitation_limits(robot)
    pose = np.zeros(3)
    need = np.abs(robot.gravity_torque(np.random.default_rng(0).normal(size=(50, 3)))).max(axis=0)
    assert need.max() > 0.0
    assert list(joint_motions(robot, limits._replace(torque=100.0 * need + 100.0), pose))
    weak = np.where(need > 0.0, 0.01 * need, np.inf)
    assert not list(joint_motions(robot, limits._replace(torque=weak), pose))


def test_the_words_say_what_to_do():
    motion = JointMotion('elbow', False, 0.5, 1.0, 20.0, 20.0, {'shoulder': 0.25},
                         ('elbow.coulomb',))
    assert str(motion) == ('elbow slowly to and fro between -0.50 and 1.50 with a period of 20 s, '
                           'for 20 s, with shoulder at 0.25 (for elbow.coulomb)')
