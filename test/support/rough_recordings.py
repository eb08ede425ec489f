"""Make recordings of three joints with other friction than viscous and Coulomb."""

import numpy as np

from dynamics_node import Robot
from dynamics_node.identification.recording import Recording
from dynamics_node.kernels.keys import key_of
from support.heavier_arm import motion
from support.recorded_arm import THREE_JOINTS

NOISE = 0.05   # [N m]


def three_joints():
    """Return a robot with known viscous and Coulomb friction, its regressor compiled."""
    robot = Robot.from_urdf(THREE_JOINTS)
    robot._dispatcher.compile([key_of(robot.model, 'regressor')], wait=True)
    return robot.with_friction(per_joint(robot, 0.5, 0.4, 0.3), per_joint(robot, 1.5, 1.0, 0.8))


def per_joint(robot, *values):
    """Return {joint: value}."""
    return dict(zip(robot.joint_names, values))


def recorded(robot, seed, samples=3000, noise=NOISE, more=None):
    """Return the Recording of a random motion.

    :param more: f(time, v) -> torques beyond those of the robot.
    """
    time, q, v, a = motion(robot.nv, samples, seed)
    tau = robot.inverse_dynamics(q, v, a) + (0.0 if more is None else more(time, v))
    white = noise * np.random.default_rng(seed + 1000).normal(size=tau.shape)
    return Recording(robot.joint_names, time, q, v, a, tau + white)
