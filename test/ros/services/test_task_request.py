"""Test refusals of invalid tasks and bounds: name, field and valid values."""

import math

import pytest
from support.node_states import refused, scene
from support.tiny_robots import TWO_JOINTS

from dynamics_node.msg import Task, TaskBound

NAN, INF = math.nan, math.inf
TIP = {'name': 'tip', 'kind': 'frame', 'frame': 'elbow_link'}
POSE = {'name': 'pose', 'kind': 'posture'}
TASKS = [
    ({'name': ''}, ['a task needs a name']),
    ({'kind': 'dance'}, ["task 'tip': kind is 'dance'", 'frame, center_of_mass, posture']),
    ({'frame': ''}, ["task 'tip': frame is missing"]),
    ({'frame': 'hand'}, ["task 'tip'", "'hand'", 'shoulder_link, elbow_link']),
    ({'level': -1}, ["task 'tip': level is -1"]),
    ({'weight': -1.0}, ["task 'tip': weight is -1.0", 'not negative']),
    ({'weight': NAN}, ["task 'tip': weight is nan"]),
    ({'weight': INF}, ["task 'tip': weight is inf"]),
    ({'stiffness': -1.0}, ["task 'tip': stiffness is -1.0"]),
    ({'damping': [-1.0]}, ["task 'tip': damping is -1.0"]),
    ({'damping': [NAN]}, ["task 'tip': damping is [nan]"]),
    ({'damping': [1.0, 1.0]}, ["task 'tip': damping is [1.0, 1.0]", 'one number']),
    ({'axes': ['w']}, ["task 'tip': axes has 'w'", 'x, y, z, rx, ry, rz']),
    ({'axes': ['x', 'x']}, ["task 'tip': axes", 'once']),
    ({'position': [0.0] * 6}, ["task 'tip': position has 6 numbers", '7, or none']),
    ({'position': [0.0] * 7}, ["task 'tip': position", 'norm 0', 'norm 1']),
    ({'position': [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.1]}, ["task 'tip': position", 'norm 1.1']),
    ({'position': [NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]}, ["task 'tip': position", 'finite']),
    ({'velocity': [0.0] * 3}, ["task 'tip': velocity has 3 numbers", '6, or none']),
    ({'acceleration': [INF] * 6}, ["task 'tip': acceleration", 'finite']),
    ({'value': [1.0]}, ["task 'tip': value is given", 'kind frame']),
    ({'joints': ['elbow']}, ["task 'tip': joints is given"]),
    ({'contact': 'sole'}, ["task 'tip': contact is given"]),
    ({**POSE, 'frame': 'elbow_link'}, ["task 'pose': frame is given"]),
    ({**POSE, 'frame': '', 'joints': ['wrist']}, ["task 'pose'", "'wrist'", 'shoulder, elbow']),
    ({**POSE, 'frame': '', 'position': [0.1]}, ["task 'pose': position has 1 numbers", '2']),
    ({'kind': 'center_of_mass', 'frame': '', 'axes': ['rx']}, ["task 'tip': axes has 'rx'"]),
    ({'kind': 'center_of_mass', 'frame': '', 'velocity': [1.0]}, ['velocity has 1 numbers']),
    ({'kind': 'force', 'frame': '', 'contact': 'sole'}, ["contact is 'sole'", 'none']),
    ({'kind': 'force', 'frame': '', 'stiffness': 1.0}, ['stiffness is given', 'kind force']),
    ({'kind': 'torque', 'frame': '', 'value': [1.0]}, ['value has 1 numbers', '2, or none']),
    ({'kind': 'torque', 'frame': '', 'damping': [1.0]}, ['damping is given', 'kind torque'])]


@pytest.mark.parametrize('names', [[], ['elbow']], ids=['model order', 'another order'])
@pytest.mark.parametrize(('fields', 'words'), TASKS, ids=range(len(TASKS)))
def test_a_bad_task_is_refused_by_its_name_and_field(fields, words, names):
    """In any order of joints."""
    good = Task(name='good', kind='torque')
    message = refused(scene(TWO_JOINTS).node_state, 'task_control', joint_names=names,
                      tasks=[good, Task(**{**TIP, **fields})])
    assert [word for word in words if word not in message] == [], message


BOUNDS = [
    ({'kind': 'speed'}, ["kind 'speed'", 'torque, acceleration, joint_limits, friction']),
    ({'kind': ''}, ["kind ''"]),
    ({'level': -1}, ["bound 'torque': level is -1"]),
    ({'limit': [-1.0]}, ["bound 'torque': limit is -1.0", 'positive']),
    ({'limit': [0.0]}, ["bound 'torque': limit is 0.0", 'positive']),
    ({'limit': [NAN]}, ["bound 'torque': limit is nan"]),
    ({'limit': [1.0, 2.0, 3.0]}, ["bound 'torque': limit", '2 of them']),
    ({'limit': [1.0, -2.0]}, ["bound 'torque': limit", 'positive']),
    ({'step': 0.1}, ["bound 'torque': step is given", 'only: limit']),
    ({'sides': 8}, ["bound 'torque': sides is given"]),
    ({'contacts': ['sole'], 'sizes': [1.0, 1.0]}, ["bound 'torque': contacts is given"]),
    ({'kind': 'acceleration'}, ["bound 'acceleration': limit is None"]),
    ({'kind': 'joint_limits', 'step': 0.01}, ["bound 'joint_limits': limit is None"]),
    ({'kind': 'joint_limits', 'limit': [1.0]}, ["bound 'joint_limits': step is 0.0"]),
    ({'kind': 'joint_limits', 'limit': [1.0], 'step': NAN}, ['step is nan']),
    ({'kind': 'joint_limits', 'limit': [INF], 'step': 0.1}, ['limit is inf']),
    ({'kind': 'friction', 'limit': [1.0]}, ["bound 'friction': limit is given"]),
    ({'kind': 'friction', 'sides': 2}, ["bound 'friction': sides is 2", 'at least 3']),
    ({'kind': 'friction', 'contacts': ['heel'], 'sizes': [0.1, 0.1]}, ['sizes', 'sole']),
    ({'kind': 'friction', 'contacts': ['sole'], 'sizes': [0.1]}, ['sizes has 1 numbers', 'sole']),
    ({'kind': 'friction', 'sizes': [0.1]}, ['sizes has 1 numbers', 'none']),
    ({'kind': 'friction', 'contacts': ['sole', 'sole'], 'sizes': [0.1] * 4}, ['named once']),
    ({'kind': 'friction', 'contacts': ['sole'], 'sizes': [0.1, -0.1]}, ['sizes', 'positive'])]


@pytest.mark.parametrize(('fields', 'words'), BOUNDS, ids=range(len(BOUNDS)))
def test_a_bad_bound_is_refused_by_its_kind_and_field(fields, words):
    """Next to a valid one."""
    message = refused(
        scene(TWO_JOINTS).node_state, 'task_control',
        constraints_yaml='- {name: sole, kind: flat_contact, frame: elbow_link, friction: 0.6}',
        bounds=[TaskBound(kind='friction'), TaskBound(**{'kind': 'torque', **fields})])
    assert [word for word in words if word not in message] == [], message


@pytest.mark.parametrize(('fields', 'words'), [
    ({'tasks': [Task(**TIP), Task(**TIP)]}, ["two tasks are called 'tip'"]),
    ({'bounds': [TaskBound(kind='torque')], 'unbounded': True}, ['bounds', 'unbounded']),
    ({'constraint_names': ['knee']}, ["'knee'"]),
    ({'constraints_yaml': '{'}, ['constraints_yaml: ', 'not valid YAML']),
    ({'constraints_yaml': '- {name: a, kind: weld, frame: hand}'}, ["'a'", "'hand'"]),
    ({'passive_joints': ['wrist']}, ["'wrist'"]),
    ({'passive_joints': ['elbow'], 'all_active': True}, ['passive_joints', 'all_active']),
    ({'stabilisation': [1.0]}, ['stabilisation is [1.0]']),
    ({'stabilisation': [1.0, NAN]}, ['stabilisation is'])])
def test_a_bad_request_is_refused_by_its_field(fields, words):
    """With the valid values."""
    message = refused(scene(TWO_JOINTS).node_state, 'task_control', **fields)
    assert [word for word in words if word not in message] == [], message
