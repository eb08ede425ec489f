"""Identify an arm from a recording that is spread over Dask workers.

    pip install "dask[distributed]"
    python examples/identify_with_dask.py

R factors merge in any order: every worker reduces its part of the recording to seven triangular
factors, which are merged pair by pair. On a cluster, give Client() the scheduler's address and let
`part_of_the_recording` read a file of the worker.
"""

import numpy as np
from dask.distributed import Client

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification import (
    Recording,
    base_parameters,
    merge_factors,
    parameter_layout,
    parameter_values,
    robot_with_parameters,
    solve_least_squares,
    triangular_factors,
    weighted_problem,
)

PARTS, SAMPLES, NOISE = 8, 5000, 0.1


def part_of_the_recording(part, robot, truth):
    """Return the recording of one worker: here a random motion of a known arm."""
    rng = np.random.default_rng(part)
    time = 0.01 * np.arange(SAMPLES)
    q, v, a = rng.normal(size=(3, SAMPLES, robot.nv))
    arm = robot_with_parameters(robot, parameter_layout(robot), truth)
    tau = arm.inverse_dynamics(q, v, a) + NOISE * rng.normal(size=v.shape)
    return Recording(robot.joint_names, time, q, v, a, tau)


def factors_of_part(part, robot, base, truth):
    """Return the TriangularFactors of a part: runs on a worker, and only they are sent."""
    return triangular_factors(robot, base, part_of_the_recording(part, robot, truth))


def main():
    robot = Robot.from_urdf(ARM7)
    base = base_parameters(robot, parameter_layout(robot))
    truth = 1.2 * parameter_values(robot, base.layout)   # an arm 20 % heavier than its URDF
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        factors = client.map(factors_of_part, range(PARTS), robot=robot, base=base, truth=truth)
        while len(factors) > 1:   # a tree: merged on the workers, pair by pair
            factors = [client.submit(merge_factors, *pair) if len(pair) == 2 else pair[0]
                       for pair in (factors[k:k + 2] for k in range(0, len(factors), 2))]
        total = factors[0].result()
    problem = weighted_problem(base, total, np.full(robot.nv, NOISE))
    start = base.values(parameter_values(robot, base.layout))
    found = solve_least_squares(problem, start)
    true = base.values(truth)
    print(f'{total.samples} samples on {PARTS} parts: {base.size} base parameters, error '
          f'{np.abs(found - true).max():.2g}; the URDF was off by {np.abs(start - true).max():.2g}')


if __name__ == '__main__':
    main()
