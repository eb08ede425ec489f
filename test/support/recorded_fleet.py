"""Make recordings of a fleet: arms of one type whose parameters differ by a known spread."""

import numpy as np

from dynamics_node import Robot
from dynamics_node.identification.consistent_fit import prior_of_scales
from dynamics_node.identification.parameters import (
    offset_torque,
    parameter_layout,
    robot_with_parameters,
)
from dynamics_node.identification.recording import raw_recording
from support.heavier_arm import other_values
from support.recorded_arm import THREE_JOINTS
from support.simple_recordings import fourier_motion

RATE = 100.0          # [Hz]
INERTIA = 0.05        # spread of inertias, share of a body
JOINT = 0.15          # spread of joint parameters, share of |value| + 0.3
DAY = 86400.0         # [s]
FIRST = 1.75e9        # [s] a date


class RecordedFleet:
    """Arms with a common model `values` that is not the URDF's, and deviations of each."""

    def __init__(self, count, seed=0):
        """Choose the parameters of all arms. With the fixture `kernels` this is fast."""
        self.robot = Robot.from_urdf(THREE_JOINTS)
        self.layout = parameter_layout(self.robot)
        self.values = other_values(self.robot, self.layout, 3)
        self.values[self.layout.each('offset')] = 0.0
        scales = np.abs(self.values[self.layout.inertial:]) + 0.3
        A = prior_of_scales(self.layout, self.values, scales, 1.0).A
        rng = np.random.default_rng(seed)
        spread = np.where(np.arange(self.layout.size) < self.layout.inertial, INERTIA, JOINT)
        self.arms = {f'arm_{k:02d}': self.values + np.linalg.solve(
            A, spread * rng.normal(size=self.layout.size)) for k in range(count)}

    def recorded(self, values, seed, day=0.0, duration=10.0, noise=0.05):
        """Return the RawRecording of an arm with these parameters."""
        time = np.arange(round(duration * RATE)) / RATE
        q, v, a = fourier_motion(time, self.robot.nv, seed)
        arm = robot_with_parameters(self.robot, self.layout, values)
        tau = arm.inverse_dynamics(q, v, a) + offset_torque(self.layout, values, v)
        tau = tau + noise * np.random.default_rng(seed).normal(size=tau.shape)
        return raw_recording(self.robot.joint_names, FIRST + DAY * day + time, q, tau, v)
