"""Test mappings of columns to joints: a YAML text, and errors that name the key."""

import pytest
from support.robot_data_sets import two_joint_arm

from dynamics_node import DynamicsError
from dynamics_node.data import read_mapping

TEXT = """
position: {column: state, joints: [joint_2, null, joint_1], unit: deg}
effort: {columns: [tau_2, tau_1], joints: [joint_2, joint_1], meaning: motor_torque}
time: {column: stamp, unit: ms}
episode: episode
rate: 30
"""
POSITION = {'column': 'state'}


@pytest.fixture(scope='module')
def robot():
    return two_joint_arm()


def test_a_text_and_a_file_are_read_alike(robot, tmp_path):
    file = tmp_path / 'mapping.yaml'
    file.write_text(TEXT)
    found = read_mapping(robot, TEXT)
    assert found == read_mapping(robot, file) == read_mapping(robot, str(file))
    assert found.position.joints == ('joint_2', None, 'joint_1') and found.position.is_list
    assert found.effort.columns == ('tau_2', 'tau_1') and not found.effort.is_list
    assert (found.time, found.time_unit) == ('stamp', 'ms')
    assert (found.episode, found.rate) == ('episode', 30.0)
    assert found.columns == ('state', 'tau_2', 'tau_1', 'stamp', 'episode')


@pytest.mark.parametrize(('mapping', 'words'), [
    ('position: [', 'not valid YAML'), ([], 'expected a mapping'), ({}, 'no position'),
    ({'positions': 1}, "unknown key 'positions'"),
    ({'position': POSITION}, 'neither time nor rate'),
    ({'position': 'state', 'rate': 1}, 'position is'),
    ({'position': {}, 'rate': 1}, 'either column'),
    ({'position': {'column': 'a', 'columns': ['a']}, 'rate': 1}, 'either column'),
    ({'position': {'column': 3}, 'rate': 1}, 'names of columns'),
    ({'position': {**POSITION, 'unit': 'degrees'}, 'rate': 1}, 'rad, deg, normalised'),
    ({'position': {**POSITION, 'joints': ['joint_1']}, 'rate': 1}, 'lacks joint_2'),
    ({'position': {**POSITION, 'joints': ['joint_1', 'elbow']}, 'rate': 1}, "no joint 'elbow'"),
    ({'position': {**POSITION, 'joints': ['joint_1', 'joint_1']}, 'rate': 1}, 'twice'),
    ({'position': {**POSITION, 'joints': 'joint_1'}, 'rate': 1}, 'expected a list of joints'),
    ({'position': {'columns': ['a', 'b', 'c']}, 'rate': 1}, '3 columns and 2 joints'),
    ({'position': {**POSITION, 'range': [1, 1]}, 'rate': 1}, 'range'),
    ({'position': {**POSITION, 'scale': {'elbow': 1}}, 'rate': 1}, "no joint 'elbow'"),
    ({'position': {**POSITION, 'scale': {'joint_1': 'x'}}, 'rate': 1}, "scale['joint_1']"),
    ({'position': POSITION, 'rate': 0}, 'rate is 0'),
    ({'position': POSITION, 'rate': 'fast'}, 'rate is'),
    ({'position': POSITION, 'time': {'column': 't', 'unit': 'min'}}, 's, ms, us, ns'),
    ({'position': POSITION, 'time': 3}, 'time is 3'),
    ({'position': POSITION, 'rate': 1, 'episode': 5}, 'episode is 5'),
    ({'position': POSITION, 'rate': 1, 'effort': {'column': 'e', 'meaning': 'force'}},
     'motor_torque'),
])
def test_errors_name_the_key(robot, mapping, words):
    with pytest.raises(DynamicsError) as error:
        read_mapping(robot, mapping)
    assert words in str(error.value)


def test_a_missing_file_is_named(robot):
    with pytest.raises(DynamicsError, match='no_such_mapping'):
        read_mapping(robot, 'no_such_mapping.yaml')
