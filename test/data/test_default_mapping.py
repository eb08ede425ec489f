"""Test mappings that are found by names: LeRobot's layouts, columns named after joints."""

import json

import pytest
from support.robot_data_sets import two_joint_arm, write_data_set

from dynamics_node import DynamicsError
from dynamics_node.data.default_mapping import dataset_root, default_mapping

COLUMNS = ('observation.state', 'observation.effort', 'action', 'timestamp', 'episode_index')


@pytest.fixture(scope='module')
def robot():
    return two_joint_arm()


@pytest.mark.parametrize('names', [
    None, ['joint_1', 'joint_2'], ['joint_1.pos', 'joint_2.pos'],
    {'motors': ['joint_1', 'joint_2']}, ['main_0', 'main_1']])
def test_names_in_info_json(robot, tmp_path, names):
    """As many entries as joints: by name, or in the order of the robot if no name is its own."""
    root = write_data_set(tmp_path, robot, (5,), names=names)
    file = root / 'data' / 'chunk-000' / 'episode_000000.parquet'
    assert dataset_root(file) == root
    found = default_mapping(robot, file, COLUMNS)
    assert found.position.joints == found.effort.joints == ('joint_1', 'joint_2')
    assert (found.time, found.episode, found.rate) == ('timestamp', 'episode_index', 50.0)


@pytest.mark.parametrize('names', [['joint_2', 'main_1'], ['elbow.pos', 'joint_1.pos']])
def test_names_of_some_joints_are_refused(robot, tmp_path, names):
    """In the order of the robot joints would be swapped."""
    root = write_data_set(tmp_path, robot, (5,), names=names)
    with pytest.raises(DynamicsError, match="'observation.state' has the entries .*mapping file"):
        default_mapping(robot, root / 'data', COLUMNS)


def test_other_entries_are_left_out(robot, tmp_path):
    """A gripper after the joints, and another order."""
    root = write_data_set(tmp_path, robot, (5,), extra=1, names=['joint_2', 'gripper', 'joint_1'])
    found = default_mapping(robot, root / 'data', COLUMNS)
    assert found.position.joints == ('joint_2', None, 'joint_1')


@pytest.mark.parametrize(('content', 'words'), [
    ('{', 'no JSON'), ('[]', 'not the info.json'), ('{"features": {"a": 1}}', 'not the info.json'),
    (json.dumps({'features': {'observation.state': {'shape': [3], 'names': ['a', 'b', 'c']}}}),
     r"\['a', 'b', 'c'\]")])
def test_an_info_json_that_does_not_fit(robot, tmp_path, content, words):
    (tmp_path / 'meta').mkdir()
    (tmp_path / 'meta' / 'info.json').write_text(content)
    with pytest.raises(DynamicsError, match=words):
        default_mapping(robot, tmp_path / 'x.parquet', COLUMNS)


def test_columns_named_after_joints(robot, tmp_path):
    names = ('time', 'position_joint_2', 'position_joint_1', 'position_gripper', 'effort_joint_1',
             'effort_joint_2', 'episode_index')
    found = default_mapping(robot, tmp_path, names)
    assert dict(zip(found.position.joints, found.position.columns)) == {
        'joint_1': 'position_joint_1', 'joint_2': 'position_joint_2'}
    assert found.time == 'time' and found.episode == 'episode_index'
    found = default_mapping(robot, tmp_path, ('t', 'q2', 'q1', 'tau1', 'tau2'))
    assert dict(zip(found.effort.joints, found.effort.columns)) == {
        'joint_1': 'tau1', 'joint_2': 'tau2'}


def test_columns_of_another_robot_are_refused(robot, tmp_path):
    with pytest.raises(DynamicsError, match="joint 'joint_2'.*mapping file"):
        default_mapping(robot, tmp_path, ('time', 'position_joint_1'))
