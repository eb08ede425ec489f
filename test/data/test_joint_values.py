"""Test numbers of joints from Arrow columns: order, units, missing values, types."""

import numpy as np
import pyarrow as pa
import pytest
from support.robot_data_sets import two_joint_arm

from dynamics_node import DynamicsError
from dynamics_node.data import read_mapping
from dynamics_node.data.joint_values import episodes_of, first_stamp, joint_values, times_of


@pytest.fixture(scope='module')
def robot():
    return two_joint_arm()


def positions(robot, entries, kind=None, **given):
    mapping = read_mapping(robot, {'position': {'column': 'x', **given}, 'rate': 10})
    batch = pa.record_batch({'x': pa.array(entries, kind or pa.list_(pa.float32()))})
    return joint_values(robot, mapping.position, batch)


def test_order_and_grippers(robot):
    """Entries without a joint are left out, the others are in the order of the robot."""
    found = positions(robot, [[1.0, 9.0, 2.0], [3.0, 9.0, 4.0]],
                      joints=['joint_2', None, 'joint_1'])
    assert found.tolist() == [[2.0, 1.0], [4.0, 3.0]]


@pytest.mark.parametrize('kind', [pa.list_(pa.float64()), pa.large_list(pa.float32()),
                                  pa.list_(pa.float32(), 2), pa.list_(pa.int64())])
def test_types_of_lists(robot, kind):
    found = positions(robot, [[1, 2], None, [5, 6]], kind)
    assert np.isnan(found[1]).all()
    assert found[[0, 2]].tolist() == [[1.0, 2.0], [5.0, 6.0]]
    assert positions(robot, [[1, 2], [3, 4]], kind).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_missing_entry_is_nan(robot):
    assert np.isnan(positions(robot, [[1.0, None]])).tolist() == [[False, True]]


def test_units(robot):
    """Degrees, and shares of the range between the limits; then scale and offset."""
    assert positions(robot, [[90.0, 180.0]], unit='deg') == pytest.approx(
        np.array([[np.pi / 2, np.pi]]))
    lower, upper = robot.model.joint('joint_2').lower, robot.model.joint('joint_2').upper
    found = positions(robot, [[0.0, -100.0], [0.0, 100.0], [0.0, 0.0]], unit='normalised')
    assert found[:, 1] == pytest.approx([lower, upper, 0.5 * (lower + upper)])
    found = positions(robot, [[0.0, 0.0], [0.0, 1.0]], unit='normalised', range=[0, 1])
    assert found[:, 1] == pytest.approx([lower, upper])
    found = positions(robot, [[90.0, 90.0]], unit='deg', scale={'joint_1': -1},
                      offset={'joint_1': 0.25})
    assert found == pytest.approx(np.array([[0.25 - np.pi / 2, np.pi / 2]]))


@pytest.mark.parametrize(('entries', 'kind', 'words'), [
    ([[1.0, 2.0, 3.0]], None, 'lists of 3 numbers'), ([[1.0], [1.0, 2.0]], None, 'lists of 1, 2'),
    ([1.0], pa.float64(), 'a list of 2'),
    ([['a', 'b']], pa.list_(pa.string()), 'expected numbers')])
def test_wrong_lists_are_refused(robot, entries, kind, words):
    with pytest.raises(DynamicsError, match=words):
        positions(robot, entries, kind)


@pytest.mark.parametrize(('array', 'unit'), [
    (pa.array([5000, 5020, None], pa.int64()), 'ms'),
    (pa.array([5_000_000_000, 5_020_000_000, None], pa.timestamp('ns')), 's'),
    (pa.array([5.0, 5.02, None], pa.float64()), 's'),
    (pa.array([5_000_000, 5_020_000, None], pa.duration('us')), 's')])
def test_times_in_seconds(robot, array, unit):
    mapping = read_mapping(robot, {'position': {'column': 'x'}, 'time': {
        'column': 't', 'unit': unit}})
    batch = pa.record_batch({'t': array})
    time = times_of(mapping, batch, 0, first_stamp(mapping, batch))
    assert time[1] - time[0] == pytest.approx(0.02, abs=1e-12)
    assert np.isnan(time[2])


def test_nanoseconds_since_1970_keep_their_digits(robot):
    """A float of them would have steps of 0.2 us."""
    stamps = 1_700_000_000_000_000_000 + 7 * np.arange(3)
    mapping = read_mapping(robot, {'position': {'column': 'x'}, 'time': {
        'column': 't', 'unit': 'ns'}})
    batch = pa.record_batch({'t': pa.array(stamps)})
    assert times_of(mapping, batch, 0, first_stamp(mapping, batch)) == pytest.approx(
        [0.0, 7e-9, 14e-9], abs=1e-15)


def test_rows_without_a_time_follow_the_rate(robot):
    mapping = read_mapping(robot, {'position': {'column': 'x'}, 'rate': 20})
    batch = pa.record_batch({'x': pa.array([0.0, 0.0])})
    assert times_of(mapping, batch, 40).tolist() == [2.0, 2.05]


def test_episodes(robot):
    mapping = read_mapping(robot, {'position': {'column': 'x'}, 'rate': 20, 'episode': 'e'})
    batch = pa.record_batch({'e': pa.array([3, 3, None])})
    found = episodes_of(mapping, batch)
    assert found[0] == found[1] != found[2]
    with pytest.raises(DynamicsError, match='whole numbers'):
        episodes_of(mapping, pa.record_batch({'e': pa.array(['a'])}))
