"""Simulate a controller from a hundred starts at once, and print how well it reaches its goal.

python examples/simulate_batch.py [robot.urdf]
"""

import sys

import numpy as np

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7

STARTS, DURATION, MASS_ERROR = 100, 2.0, 1.2


def main():
    try:
        # Dry friction is too stiff for fixed steps; see docs/simulation.md.
        robot = Robot.from_urdf(sys.argv[1] if len(sys.argv) > 1 else ARM7, friction=False)
    except DynamicsError as error:
        sys.exit(f'simulate_batch: {error}')
    goal = robot.random_configuration(rng=2)
    rng = np.random.default_rng(0)
    starts = np.array([robot.random_configuration(rng) for _ in range(STARTS)])

    def computed_torque(t, q, v):
        """Return the torques of a model whose links are all too heavy by the same factor."""
        return MASS_ERROR * robot.inverse_dynamics(q, v, 100.0 * (goal - q) - 20.0 * v)

    time = np.linspace(0.0, DURATION, 9)
    motion = robot.simulate(starts, np.zeros(robot.nv), computed_torque, time)
    error = np.abs(motion.q - goal).max(axis=2)
    print(f'{STARTS} motions of {robot.name}, greatest joint error [rad or m]')
    print(f'{"time":>6}{"median":>12}{"worst":>12}')
    for t, errors in zip(time, error.T):
        print(f'{t:6.2f}{np.median(errors):12.6f}{errors.max():12.6f}')


if __name__ == '__main__':
    main()
