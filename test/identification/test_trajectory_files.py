"""Test trajectory files: read back as written, errors reported with the file name."""

import os

import numpy as np
import pytest
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError
from dynamics_node.identification.fourier import Fourier
from dynamics_node.identification.trajectory_files import (
    DIGITS,
    read_trajectory,
    sample_trajectory,
    trajectory_yaml,
    write_trajectory_csv,
)

NAMES = ('shoulder', "elbow's")
GOOD_YAML = """\
header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}
joint_names: [a]
points:
- {positions: [1e-3], velocities: [], accelerations: [], effort: [], time_from_start: {sec: 1}}
- {positions: [2], time_from_start: {nanosec: 500000000, sec: 2}}
---
"""


@pytest.fixture
def motion():
    rng = np.random.default_rng(2)
    return Fourier(NAMES, 4.0, rng.normal(size=2), *rng.normal(size=(2, 3, 2)))


def test_a_table_is_read_back_exactly(tmp_path, motion):
    write_trajectory_csv(tmp_path / 'a.csv', motion)
    got = read_trajectory(tmp_path / 'a.csv')
    assert got.joint_names == NAMES
    for mine, its in zip(got[1:], sample_trajectory(motion)):
        assert np.array_equal(mine, its)


def test_a_message_is_read_back_to_its_digits(tmp_path, motion):
    (tmp_path / 'a.yaml').write_text(trajectory_yaml(motion))
    got = read_trajectory(tmp_path / 'a.yaml')
    assert got.joint_names == NAMES
    for mine, its in zip(got[1:], sample_trajectory(motion)):
        assert np.abs(mine - its).max() <= 0.5 * 10.0 ** -DIGITS * (1.0 + EXACT_MATHS)


def test_the_output_of_topic_echo_is_read(tmp_path):
    """Empty fields are missing; integers are numbers; more documents may follow."""
    (tmp_path / 'a.yml').write_text(GOOD_YAML)
    names, times, q, v, a = read_trajectory(tmp_path / 'a.yml')
    assert (names, times.tolist(), q.tolist(), v, a) == (('a',), [1.0, 2.5], [[1e-3], [2.0]],
                                                         None, None)


def test_columns_are_read_in_any_order_and_others_ignored(tmp_path):
    (tmp_path / 'a.csv').write_text(
        '\ufeffposition_b, effort_a ,time,position_a,velocity_a,velocity_b\n1,9,0,2,3,4\n\n',
        encoding='utf-8')
    names, times, q, v, a = read_trajectory(tmp_path / 'a.csv')
    assert (names, times.tolist(), q.tolist(), v.tolist(), a) == (
        ('b', 'a'), [0.0], [[1.0, 2.0]], [[4.0, 3.0]], None)


@pytest.mark.parametrize(('file', 'text', 'reason'), [
    ('a.csv', '', r'\(none\)'),
    ('a.csv', 'time,q\n0,1', 'time, q; expected'),
    ('a.csv', 'time,position_a,position_a\n0,1,1', 'each once'),
    ('a.csv', 'time,position_a\n', 'has only a header'),
    ('a.csv', 'time,position_a\n0,1\n1', 'line 3 has 1 cells'),
    ('a.csv', 'time,position_a\n0,one', "line 2: .*'one'"),
    ('a.csv', 'time,position_a,position_b,velocity_a\n0,1,2,3', 'velocity of 1 of 2 joints'),
    ('a.yaml', '', 'is not a trajectory_msgs/JointTrajectory'),
    ('a.yaml', 'points: [1', 'not valid YAML'),
    ('a.yaml', '[1, 2]', 'is not a trajectory_msgs/JointTrajectory'),
    ('a.yaml', 'joint_names: [a]', 'points'),
    ('a.yaml', 'joint_names: [a]\npoints: []', 'no positions'),
    ('a.yaml', 'joint_names: [a]\npoints: [{positions: [1]}]', 'time_from_start'),
    ('a.yaml', 'joint_names: [a]\npoints: [{positions: [1, 2], time_from_start: {sec: 1}}]',
     r'points\[0\].positions has 2 numbers for 1 joints'),
    ('a.yaml', 'joint_names: [a]\npoints: [{positions: [x], time_from_start: {sec: 1}}]', "'x'"),
    ('a.yaml', 'joint_names: [1]\npoints: [{positions: [1], time_from_start: {sec: 1}}]',
     'no joints'),
    ('a.yaml', '!!python/object/apply:os.getcwd []', 'not valid YAML'),
    ('a.yaml', '[' * 5000, 'not valid YAML'),
    ('a.yaml', '[' * 300_000, 'not valid YAML'),
    ('a.yaml', 'joint_names: !!bool x', 'not valid YAML'),
    ('a.csv', 'x' * 300_000, 'not a table'),
])
def test_errors_name_the_file(tmp_path, file, text, reason):
    (tmp_path / file).write_text(text)
    with pytest.raises(DynamicsError, match=reason) as refusal:
        read_trajectory(tmp_path / file)
    assert file in str(refusal.value)


def test_unreadable_files_are_refused(tmp_path):
    (tmp_path / 'a.csv').write_bytes(b'\xff\xfe\x00')
    os.mkfifo(tmp_path / 'fifo.yaml')
    for path in (tmp_path / 'a.csv', tmp_path / 'no.csv', tmp_path, 'a\0b', 'x' * 100_000,
                 tmp_path / 'fifo.yaml'):
        with pytest.raises(DynamicsError, match='cannot be read'):
            read_trajectory(path)
