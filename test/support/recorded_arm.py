"""Recordings of an arm as it would be with other masses, rotors and friction than its URDF's."""


import numpy as np

from dynamics_node.identification.parameters import (
    layout_of,
    robot_of,
    torque_beyond_the_model,
    values_of,
)
from dynamics_node.identification.recording import raw_recording
from support.heavier_arm import other_values  # noqa: E402
from support.simple_recordings import fourier_motion  # noqa: E402
from support.tiny_robots import chain

RATE = 100.0     # [Hz]
THREE_JOINTS = chain(('shoulder', 'revolute'), ('elbow', 'revolute'), ('wrist', 'revolute'))


def heavier(robot, seed=3):
    """Return (robot, values) that are to be found: not those of the URDF."""
    layout = layout_of(robot)
    values = other_values(robot, layout, seed)
    values[layout.each('offset')] = 0.0
    return robot_of(robot, layout, values), values


def recorded(robot, duration=30.0, seed=1, noise=0.05):
    """Return the RawRecording of a motion, torques with noise [N m]."""
    time = np.arange(round(duration * RATE)) / RATE
    q, v, a = fourier_motion(time, robot.nv, seed)
    layout = layout_of(robot)
    tau = robot.inverse_dynamics(q, v, a) + torque_beyond_the_model(
        layout, values_of(robot, layout), v)
    noisy = tau + noise * np.random.default_rng(seed).normal(size=tau.shape)
    return raw_recording(robot.joint_names, time, q, noisy, v)
