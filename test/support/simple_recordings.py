"""Make a known motion, and the torques of a robot along it."""

import numpy as np

from dynamics_node.identification.recording import raw_recording


def fourier_motion(time, joints, seed=1, fundamental=0.1, harmonics=5, size=0.2):
    """Return (q, v, a) of a sum of sines, (N, joints) each; not at rest at its ends."""
    rng = np.random.default_rng(seed)
    w = 2.0 * np.pi * fundamental * np.arange(1, harmonics + 1)
    A, B = size * rng.normal(size=(2, harmonics, joints))
    s, c = np.sin(np.outer(time, w)), np.cos(np.outer(time, w))
    return s @ A + c @ B, (c * w) @ A - (s * w) @ B, -(s * w * w) @ A - (c * w * w) @ B


def recorded(robot, duration=20.0, rate=100.0, noise=0.0, seed=1, torque_noise=0.0):
    """Return the RawRecording of a robot that moves about the middle of its ranges."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(duration * rate)) / rate
    q, v, a = fourier_motion(time, robot.nv, seed)
    q = q + np.array([np.clip(0.0, joint.lower, joint.upper) if joint.lower * joint.upper <= 0.0
                      else (joint.lower + joint.upper) / 2 for joint in robot.model.joints])
    tau = robot.inverse_dynamics(q, v, a)
    return raw_recording(robot.joint_names, time, q + noise * rng.normal(size=q.shape),
                         tau + torque_noise * rng.normal(size=q.shape), v)
