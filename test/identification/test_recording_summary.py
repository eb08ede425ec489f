"""Test summaries of recordings: their files, their sizes, and what they are made from."""

import numpy as np
import pytest
from support.recorded_fleet import FIRST, RecordedFleet

from dynamics_node import DynamicsError, Robot, Spring
from dynamics_node.example_robots import ARM7
from dynamics_node.identification import read_summary, summarize, write_summary


@pytest.fixture(scope='module')
def fleet(kernels):
    return RecordedFleet(1)


@pytest.fixture(scope='module')
def summary(fleet):
    return summarize(fleet.robot, fleet.recorded(fleet.values, 1))


def test_a_file_has_all_of_a_summary(summary, tmp_path):
    """To the last bit, in some kilobytes."""
    write_summary(tmp_path / 'a.npz', summary)
    found = read_summary(tmp_path / 'a.npz')
    for field, one, other in zip(summary._fields, summary, found):
        if field == 'factors':
            assert one.samples == other.samples
            one, other = one.R, other.R
        assert all(np.array_equal(a, b) for a, b in zip(one, other)) if isinstance(
            one, (tuple, np.ndarray)) else one == other
    assert (tmp_path / 'a.npz').stat().st_size < 50_000
    assert [each.name for each in tmp_path.iterdir()] == ['a.npz']


def test_the_date_is_that_of_the_first_sample(summary):
    assert summary.begin == FIRST and summary.date == '2025-06-15 15:06'
    assert summary._replace(begin=3.0).date == ''


def test_bad_files_are_refused(summary, tmp_path):
    path = tmp_path / 'a.npz'
    write_summary(path, summary)
    good = path.read_bytes()
    for content in (b'', b'text', good[:len(good) // 2]):
        path.write_bytes(content)
        with pytest.raises(DynamicsError, match=r'a\.npz cannot be read; expected a file that'):
            read_summary(path)
    write_summary(path, summary._replace(noise=np.array([1.0, np.nan, 1.0])))
    with pytest.raises(DynamicsError, match='not finite'):
        read_summary(path)
    with pytest.raises(DynamicsError, match='cannot write'):
        write_summary(tmp_path / 'missing' / 'a.npz', summary)


def test_springs_and_wrong_kinds_are_refused(fleet):
    with pytest.raises(DynamicsError, match='raw is'):
        summarize(fleet.robot, 3)
    springy = Robot.from_urdf(ARM7, compile=False).with_springs(
        [Spring('s', joint='joint_1', stiffness=1.0)])
    with pytest.raises(DynamicsError, match='without loops and springs'):
        summarize(springy, fleet.recorded(fleet.values, 1))
