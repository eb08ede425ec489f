"""Record a robot of two joints, for its identification."""

import numpy as np

from dynamics_node.identification.recording import Recording

NOISE = 0.05   # [N m]


def record(robot, samples=1500, rate=100.0):
    """Return the Recording of a robot of two joints in a lively motion."""
    t = np.arange(samples) / rate
    rng = np.random.default_rng(7)
    q, v, a = np.zeros((3, samples, 2))
    for k in range(1, 6):
        w = 2 * np.pi * k * np.array([0.11, 0.13])
        s, c = rng.normal(size=(2, 2)) / k
        q += s * np.sin(np.outer(t, w)) + c * np.cos(np.outer(t, w))
        v += w * (s * np.cos(np.outer(t, w)) - c * np.sin(np.outer(t, w)))
        a -= w * w * (s * np.sin(np.outer(t, w)) + c * np.cos(np.outer(t, w)))
    tau = robot.inverse_dynamics(q, v, a) + rng.normal(size=q.shape) * NOISE
    return Recording(robot.joint_names, t, q, v, a, tau)
