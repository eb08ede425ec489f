"""Make recordings of an arm with other masses, rotors and friction than its URDF."""


import numpy as np

from dynamics_node.identification.parameters import (
    offset_torque,
    parameter_layout,
    parameter_values,
    robot_with_parameters,
)
from dynamics_node.identification.recording import raw_recording
from support.heavier_arm import other_values  # noqa: E402
from support.simple_recordings import fourier_motion  # noqa: E402
from support.tiny_robots import chain

RATE = 100.0     # [Hz]
THREE_JOINTS = chain(('shoulder', 'revolute'), ('elbow', 'revolute'), ('wrist', 'revolute'))


def heavier(robot, seed=3):
    """Return (robot, values) to identify: not those of the URDF."""
    layout = parameter_layout(robot)
    values = other_values(robot, layout, seed)
    values[layout.each('offset')] = 0.0
    return robot_with_parameters(robot, layout, values), values


def recorded(robot, duration=30.0, seed=1, noise=0.05, slower=1.0):
    """Return the RawRecording of a motion, some times slower, torques with noise [N m]."""
    time = np.arange(round(duration * RATE)) / RATE
    q, v, a = fourier_motion(time / slower, robot.nv, seed)
    v, a = v / slower, a / slower ** 2
    layout = parameter_layout(robot)
    tau = robot.inverse_dynamics(q, v, a) + offset_torque(
        layout, parameter_values(robot, layout), v)
    noisy = tau + noise * np.random.default_rng(seed).normal(size=tau.shape)
    return raw_recording(robot.joint_names, time, q, noisy, v)
