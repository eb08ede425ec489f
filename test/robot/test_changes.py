"""Test that changed copies of a robot share its kernels: many robots in one process."""

import pickle
import tracemalloc

import numpy as np

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels import build

ROBOTS = 40
MOST_BYTES = 100_000   # of each; 22 kB were measured, and 2.4 MB of a robot with its own kernels


def changed(robot, k):
    """Return the robot with another payload and other friction."""
    return robot.with_payload('load', 'tool0', 1.0 + 0.1 * k).with_friction(
        damping={'joint_1': 1.0 + 0.1 * k})


def test_robots_of_one_structure_compile_once_and_need_little_memory(compiler_on, monkeypatch):
    """Each has its own numbers: the torques differ, and are those of NumPy."""
    first = changed(Robot.from_urdf(ARM7), 0)
    q = np.tile(first.random_configuration(rng=0), (300, 1))   # a batch waits for its kernel
    first.inverse_dynamics(q, q, q)
    monkeypatch.setattr(build, 'build_kernel', None)   # a call would be recorded as a failure
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        robots = [changed(first, k) for k in range(1, ROBOTS + 1)]
        torques = [robot.inverse_dynamics(q[:3], q[:3], q[:3])[0] for robot in robots]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (after - before) / ROBOTS < MOST_BYTES
    assert (first.compiling, first.compile_failures) == (0, [])
    assert len(np.unique(torques, axis=0)) == ROBOTS
    slow = changed(Robot.from_urdf(ARM7, compile=False), ROBOTS)
    np.testing.assert_allclose(torques[-1], slow.inverse_dynamics(q[0], q[0], q[0]), rtol=1e-10)
    assert len(pickle.dumps(robots[-1])) < 20_000   # 9 kB
