"""How does a motion reach the robot? As a trajectory_msgs/JointTrajectory in YAML, or as a table.

The YAML is what `ros2 topic pub --once --yaml-file` and the node's topic `~/reference` take.
"""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.read_csv import write_table
from dynamics_node.model.checks import positive

DIGITS = 9   # of positions and their rates: nanoradians


def samples(trajectory, rate=50.0, periods=1):
    """Return (time, q, v, a) of a Fourier motion, both ends included, (N,) and (N, nv) each.

    :param rate: about this many samples per second; a whole number per period.
    """
    if not isinstance(periods, int) or periods < 1:
        raise DynamicsError(f'periods is {periods!r}; expected a whole number, 1 or more')
    n = max(1, round(positive('rate', rate) * trajectory.period)) * periods
    time = np.arange(n + 1) * (trajectory.period * periods / n)
    return time, *trajectory.sample(time)


def trajectory_yaml(trajectory, rate=50.0, periods=1):
    """Return the text of a trajectory_msgs/JointTrajectory."""
    time, *motion = samples(trajectory, rate, periods)
    lines = [f'joint_names: [{", ".join(map(_quoted, trajectory.joint_names))}]', 'points:']
    for t, *rows in zip(time, *motion):
        sec, nanosec = divmod(round(t * 1e9), 1_000_000_000)
        for key, row in zip(('- positions', '  velocities', '  accelerations'), rows):
            numbers = np.round(row, DIGITS) + 0.0   # no minus before a zero
            lines.append(f'{key}: [{", ".join(f"{x:.{DIGITS}f}" for x in numbers)}]')
        lines.append(f'  time_from_start: {{sec: {sec}, nanosec: {nanosec}}}')
    return '\n'.join(lines) + '\n'


def write_trajectory_csv(path, trajectory, rate=50.0, periods=1):
    """Write time, position_<joint>, velocity_<joint>, acceleration_<joint>, one line a sample."""
    time, *motion = samples(trajectory, rate, periods)
    header = ['time', *(f'{name}_{joint}' for name in ('position', 'velocity', 'acceleration')
                        for joint in trajectory.joint_names)]
    write_table(path, header, np.column_stack([time, *motion]))


def _quoted(name):
    return "'" + name.replace("'", "''") + "'"
