"""Compute and print the dynamics of a 7-axis arm in one state.

python examples/arm_dynamics.py [robot.urdf]
"""

import sys

import numpy as np

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7


def main():
    try:
        robot = Robot.from_urdf(sys.argv[1] if len(sys.argv) > 1 else ARM7)
    except DynamicsError as error:
        sys.exit(f'arm_dynamics: {error}')
    print(robot.report(), end='\n\n')

    q = robot.random_configuration(rng=7)
    v = np.full(robot.nv, 0.5)
    a = np.full(robot.nv, 1.0)
    gravity = robot.gravity_torque(q)
    inverse = robot.inverse_dynamics(q, v, a)
    forward = robot.forward_dynamics(q, v, inverse)

    # Hybrid: the first joints are moved as prescribed, the last three are given their gravity only.
    given = np.arange(robot.nv) < robot.nv - 3
    hybrid_a, hybrid_tau = robot.hybrid_dynamics(q, v, a, gravity, given)

    columns = {
        'v': v, 'a': a, 'gravity': gravity, 'inverse(a)': inverse, 'forward(tau)': forward,
        'hybrid a': hybrid_a, 'hybrid tau': hybrid_tau,
    }
    print(f'one state (SI units), tau = inverse(a); hybrid: the first {given.sum()} joints are '
          'prescribed a,\nthe others are given their gravity torque')
    width = max(map(len, robot.dof_names))
    print(f'{"joint":{width}}' + ''.join(f'{name:>14}' for name in columns))
    for row, name in enumerate(robot.dof_names):
        print(f'{name:{width}}' + ''.join(f'{values[row]:14.6f}' for values in columns.values()))
    print(f'\nforward after inverse gives back the acceleration to {np.abs(forward - a).max():.1e}')


if __name__ == '__main__':
    main()
