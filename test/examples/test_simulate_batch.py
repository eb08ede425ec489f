"""Test examples/simulate_batch.py: all motions end where statics says."""

import subprocess
import sys

import numpy as np
from support.paths import EXAMPLES

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7


def test_the_error_at_the_end_is_that_of_statics(compiler_on):
    """At rest 1.2 (M 100 e + g) = g; e at the q that it leads to."""
    done = subprocess.run([sys.executable, EXAMPLES / 'simulate_batch.py'], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    robot = Robot.from_urdf(ARM7, compile=False)
    goal = robot.random_configuration(rng=2)
    q = goal
    for _ in range(50):
        q = goal - robot.mass_matrix_inverse(q) @ robot.gravity_torque(q) * (1 / 1.2 - 1) / 100
    median, worst = map(float, done.stdout.splitlines()[-1].split()[1:])
    np.testing.assert_allclose([median, worst], np.abs(q - goal).max(), atol=1e-4)


def test_a_missing_file_is_one_line():
    done = subprocess.run([sys.executable, EXAMPLES / 'simulate_batch.py', 'missing.urdf'],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert done.stderr.startswith('simulate_batch: ')
    assert done.stderr.count('\n') == 1
