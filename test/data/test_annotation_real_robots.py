"""Test annotated files of real robots against calls of the robot; refused kinds of robots."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.real_robots import ROBOTS
from support.robot_data_sets import values

from dynamics_node import DynamicsError, Robot
from dynamics_node.data import annotate
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.spatial import so3

RATE, ROWS, FEW, CUTOFF = 20.0, 100, 14, 2.5   # [Hz], rows, rows, [Hz]
SOME = slice(None, None, 13)   # rows that are compared: robots without kernels are slow
MOST_FILTERED = 9   # joints: a hundred rows of more take seconds without kernels
CSV = ('double_pendulum', 'z1')
FILES = {each.file: each for each in ROBOTS}.values()   # some robots are there with two bases


def motion_within_limits(robot):
    """Return (q, v, a), (ROWS, joints) each: slow sines about the middles of the joint ranges."""
    joints = [robot.model.joint(name) for name in robot.joint_names]
    middle, reach = np.zeros(len(joints)), np.full(len(joints), 0.3)
    for k, joint in enumerate(joints):
        if np.isfinite(joint.upper - joint.lower):
            middle[k] = 0.5 * (joint.upper + joint.lower)
            reach[k] = min(0.3, 0.3 * (joint.upper - joint.lower))
    w = 2.0 * np.pi * np.linspace(0.2, 0.4, len(joints))
    phase = np.multiply.outer(np.arange(ROWS) / RATE, w) + np.arange(len(joints))
    return (middle + reach * np.sin(phase), reach * w * np.cos(phase),
            -reach * w ** 2 * np.sin(phase))


def write(path, robot, q, effort):
    """Write a file with a column for each joint."""
    columns = {'time': np.arange(len(q)) / RATE}
    for word, x in (('position', q), ('effort', effort)):
        columns |= {f'{word}_{name}': x[:, k] for k, name in enumerate(robot.joint_names)}
    if path.suffix == '.csv':
        np.savetxt(path, np.column_stack([*columns.values()]), '%.17g', ',',
                   header=','.join(columns), comments='')
    else:
        pq.write_table(pa.table(columns), path)


@pytest.mark.parametrize('example', FILES, ids=str)
def test_columns_are_those_of_calls(example, tmp_path, monkeypatch):
    """Of the recorded positions to rounding; of the filtered motion to the gain of the filter."""
    monkeypatch.setattr('dynamics_node.data.annotate_file.WORTH_WAITING', 1)   # no kernels here
    robot = Robot.from_urdf(example.path, base='fixed', compile=False)
    frame = example.link_names()[-1]
    q, v, a = (x[:FEW if robot.nv > MOST_FILTERED else ROWS] for x in motion_within_limits(robot))
    effort = 0.1 * q + 1.5
    name = 'a.csv' if example.name in CSV else 'a.parquet'
    write(tmp_path / name, robot, q, effort)
    columns = ['gravity', f'pose:{frame}']
    if robot.nv <= MOST_FILTERED:
        columns += ['inverse_dynamics', 'external_torque']
    done = annotate(robot, tmp_path / name, columns, tmp_path / 'out',
                    effort_meaning='motor_torque', cutoff=CUTOFF)
    assert done.counts['rows'] == len(q) and done.counts['outside_limits'] == 0
    found = pq.read_table(tmp_path / 'out' / 'a.parquet')
    tau = robot.inverse_dynamics(q[SOME], v[SOME], a[SOME])
    size = np.abs(tau).max()
    gravity = robot.gravity_torque(q[SOME])
    assert np.abs(values(found, 'gravity')[SOME] - gravity).max() <= 1e-12 * size
    pose, T = values(found, f'pose:{frame}')[SOME], robot.frame_pose(q[SOME], frame)
    assert np.abs(pose[:, :3] - T[:, :3, 3]).max() < 1e-12
    assert max(np.abs(so3.from_quaternion(x) - R).max()
               for x, R in zip(pose[:, 3:], T[:, :3, :3])) < 1e-12
    if robot.nv > MOST_FILTERED:
        return
    inside = (found['annotation_marks'].to_numpy() == 0)[SOME]
    assert inside.sum() >= 3
    needed = values(found, 'inverse_dynamics')
    assert np.abs(needed[SOME] - tau)[inside].max() < 1e-3 * size
    assert np.abs(values(found, 'external_torque') - (needed - effort)).max() <= 1e-12 * size


def test_a_robot_with_loops_is_refused(tmp_path):
    """With the reason; its joints do not move independently."""
    urdf, loops = MECHANISMS['four_bar']
    robot = Robot.from_urdf(urdf, loops=loops, compile=False)
    pq.write_table(pa.table({'time': [0.0]}), tmp_path / 'a.parquet')
    with pytest.raises(DynamicsError, match='the robot has loops'):
        annotate(robot, tmp_path / 'a.parquet', ['gravity'], tmp_path / 'out')
