"""Make data sets in the public layout of LeRobot, with motions that are known exactly."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7

RATE = 50.0
JOINTS = ('joint_1', 'joint_2')


def two_joint_arm():
    """Return the bundled arm with two joints that move."""
    return Robot.from_urdf(ARM7, locked={f'joint_{k}': 0.3 for k in range(3, 8)})


def motion(time, frequencies=(0.3, 0.5), phase=0.0):
    """Return (q, v, a) of sines, (N, joints) each."""
    w = 2.0 * np.pi * np.array(frequencies)
    x = np.multiply.outer(time, w) + phase
    return 0.5 * np.sin(x), 0.5 * w * np.cos(x), -0.5 * w ** 2 * np.sin(x)


def episode_table(robot, number, rows, external=0.0, extra=0, dtype='float32'):
    """Return the table of an episode: lists per row, `extra` entries after the joints."""
    frame = np.arange(rows)
    time = frame / RATE
    q, v, a = motion(time, np.linspace(0.3, 0.5, robot.nv), 0.7 * number)
    effort = robot.inverse_dynamics(q, v, a) - external

    def lists(x):
        x = np.column_stack([x, np.full((rows, extra), 0.5)]).astype(dtype)
        return pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), x.shape[1])
    return pa.table({
        'observation.state': lists(q), 'observation.effort': lists(effort), 'action': lists(q),
        'timestamp': time.astype('float32'), 'frame_index': frame,
        'episode_index': np.full(rows, number), 'index': 1000 * number + frame})


def write_data_set(folder, robot, lengths=(600, 500, 700), version='v2.1', names=None, **options):
    """Write a data set: one file per episode (v2) or all episodes in one file (v3)."""
    episodes = [episode_table(robot, k, rows, **options) for k, rows in enumerate(lengths)]
    data = folder / 'data' / 'chunk-000'
    data.mkdir(parents=True)
    if version.startswith('v3'):
        pq.write_table(pa.concat_tables(episodes), data / 'file-000.parquet', row_group_size=250)
    else:
        for k, table in enumerate(episodes):
            pq.write_table(table, data / f'episode_{k:06d}.parquet')
    width = robot.nv + options.get('extra', 0)
    feature = {'dtype': 'float32', 'shape': [width], 'names': names}
    (folder / 'meta').mkdir()
    (folder / 'meta' / 'info.json').write_text(json.dumps({
        'codebase_version': version, 'fps': int(RATE), 'total_episodes': len(lengths),
        'features': {'observation.state': feature, 'observation.effort': feature,
                     'timestamp': {'dtype': 'float32', 'shape': [1], 'names': None}}}))
    return folder


def values(table, name):
    """Return a column of lists as an array, (N, n)."""
    return np.stack(table[name].to_numpy())
