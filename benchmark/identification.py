"""Measure the identification of a 7-axis arm from a million samples.

    python benchmark/identification.py [samples]

To reach: 10^6 samples in 20 s, robust in 30 s, and 2 GB, on two cores. The samples are of a random
Fourier motion; torques are those of the same arm 20 % heavier, with rotors, an offset and white
noise.
"""

import resource
import sys
from time import perf_counter

import numpy as np

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification import (
    IdentificationOptions,
    Recording,
    identify,
    parameter_layout,
    parameter_values,
    robot_with_parameters,
)
from dynamics_node.identification.parameters import offset_torque

PERIOD = 1e-3        # [s] between samples
NOISE = 0.3          # [N m]
SECONDS = {'weighted': 20.0, 'robust': 30.0}   # to reach, of 10^6 samples
MEGABYTES = 2000.0


def recorded(robot, samples, seed=1):
    """Return (Recording, true parameters) of a motion of another arm."""
    rng = np.random.default_rng(seed)
    t = PERIOD * np.arange(samples)[:, None]
    q, v, a = np.zeros((3, samples, robot.nv))
    for harmonic in range(1, 6):
        w = 2 * np.pi * 0.11 * harmonic * rng.uniform(0.9, 1.1, robot.nv)
        speed, phase = rng.normal(size=robot.nv) * 0.5, rng.uniform(0, 2 * np.pi, robot.nv)
        q += speed / w * np.sin(w * t + phase)
        v += speed * np.cos(w * t + phase)
        a -= speed * w * np.sin(w * t + phase)
    layout = parameter_layout(robot)
    truth = 1.2 * parameter_values(robot, layout)
    truth[layout.each('armature')] = 0.1
    truth[layout.each('offset')] = 0.2
    tau = robot_with_parameters(robot, layout, truth).inverse_dynamics(q, v, a)
    tau += offset_torque(layout, truth, v)
    tau += NOISE * rng.normal(size=tau.shape)
    return Recording(robot.joint_names, t[:, 0], q, v, a, tau), truth


def measure(samples, options=None):
    """Return {seconds, MB, worst error of a base parameter in stated standard deviations}."""
    robot = Robot.from_urdf(ARM7)
    robot.regressor(*np.zeros((3, 200, robot.nv)))  # makes the kernel, if it is not cached
    recording, truth = recorded(robot, samples)
    start = perf_counter()
    found = identify(robot, recording, options)
    seconds = perf_counter() - start
    errors = (found.base_values - found.base.values(truth)) / found.base_spread.sigma
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {'seconds': seconds, 'MB': peak, 'worst error': np.abs(errors).max()}


def main():
    samples = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    for method in ('weighted', 'robust'):
        found = measure(samples, IdentificationOptions(method=method))
        bars = {'seconds': SECONDS[method], 'MB': MEGABYTES}
        shown = ', '.join(f'{name} {value:.3g}' + (f' (bar {bars[name]:g})' if name in bars else '')
                          for name, value in found.items())
        print(f'{samples} samples of 7 axes, {method}: {shown}')


if __name__ == '__main__':
    main()
