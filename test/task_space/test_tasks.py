"""Test refusals of invalid tasks and bounds by name."""

import numpy as np
import pytest
from support.real_robots import ROBOTS
from support.standing_robots import FEET, solo12, state

from dynamics_node import Robot
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.friction_cone import check_contacts
from dynamics_node.errors import DynamicsError
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.tasks import Task


@pytest.mark.parametrize(('fields', 'words'), [
    ({'name': '', 'kind': 'torque'}, 'needs a name'),
    ({'kind': 'dance'}, "task 'it': kind is 'dance'; expected one of: frame"),
    ({'kind': None}, 'kind is None'),
    ({'kind': 'torque', 'weight': -1.0}, "task 'it': weight is -1.0"),
    ({'kind': 'torque', 'weight': float('nan')}, 'weight is nan'),
    ({'kind': 'torque', 'weight': '1'}, "weight is '1'"),
    ({'kind': 'torque', 'level': -1}, 'level is -1'),
    ({'kind': 'torque', 'level': 1.5}, 'level is 1.5'),
    ({'kind': 'torque', 'frame': 'base_link'}, 'frame is given, but a task of kind torque'),
    ({'kind': 'posture', 'stiffness': -3.0}, 'stiffness is -3.0'),
    ({'kind': 'posture', 'damping': -3.0}, 'damping is -3.0'),
    ({'kind': 'posture', 'position': [[1.0]]}, 'position is'),
    ({'kind': 'posture', 'position': 'here'}, 'position is'),
    ({'kind': 'posture', 'velocity': [np.inf]}, 'velocity is'),
    ({'kind': 'frame'}, 'frame is missing'),
    ({'kind': 'frame', 'frame': 'base_link', 'position': [0.0] * 6}, 'position has 6 numbers'),
    ({'kind': 'frame', 'frame': 'base_link', 'position': [0.0] * 7}, 'quaternion of norm 0'),
    ({'kind': 'frame', 'frame': 'base_link', 'axes': ('w',)}, "axes has 'w'"),
    ({'kind': 'frame', 'frame': 'base_link', 'axes': ('x', 'x')}, 'each axis once'),
    ({'kind': 'center_of_mass', 'axes': ('rx',)}, "axes has 'rx'"),
])
def test_an_invalid_task_is_refused(fields, words):
    """Before a robot is needed."""
    with pytest.raises(DynamicsError) as error:
        Task(**{'name': 'it', **fields})
    assert words in str(error.value)


@pytest.mark.parametrize(('fields', 'words'), [
    ({'kind': 'frame', 'frame': 'nose'}, "task 'it': no frame 'nose'; the robot has: base_link"),
    ({'kind': 'frame', 'frame': 'base_link', 'velocity': [1.0]}, 'velocity has 1 numbers'),
    ({'kind': 'posture', 'joints': ('knee',)}, "task 'it': no joint 'knee'"),
    ({'kind': 'posture', 'position': np.zeros(3)}, 'position has 3 numbers; expected 12'),
    ({'kind': 'force', 'contact': 'tail'}, "contact is 'tail'; expected one of: FL_contact"),
    ({'kind': 'force', 'contact': 'FL_contact', 'value': [1.0]}, 'value has 1 numbers; expected 3'),
    ({'kind': 'torque', 'value': [1.0]}, 'value has 1 numbers; expected 18'),
    ({'kind': 'center_of_mass', 'position': [1.0]}, 'position has 1 numbers; expected 3'),
])
def test_a_task_that_does_not_fit_the_robot_is_refused(fields, words):
    """Or its contacts."""
    q, v = state(0)
    with pytest.raises(DynamicsError) as error:
        solo12().whole_body(q, v, [Task(**{'name': 'it', **fields})], FEET)
    assert words in str(error.value)


@pytest.mark.parametrize(('fields', 'words'), [
    ({'kind': 'speed'}, "a bound is of kind 'speed'; expected one of: torque"),
    ({'kind': 'torque', 'level': -1}, "bound 'torque': level is -1"),
    ({'kind': 'torque', 'limit': -1.0}, 'limit is -1.0; expected a positive number'),
    ({'kind': 'torque', 'limit': [1.0, 2.0]}, 'limit is [1.0, 2.0]'),
    ({'kind': 'torque', 'limit': 'much'}, "limit is 'much'"),
    ({'kind': 'acceleration'}, 'limit is None'),
    ({'kind': 'joint_limits', 'limit': 1.0}, 'step is nan'),
    ({'kind': 'joint_limits', 'limit': np.inf, 'step': 0.1}, 'limit is inf'),
    ({'kind': 'friction', 'sides': 2}, 'sides is 2'),
    ({'kind': 'friction', 'sizes': {'tail': 0.1}}, 'contacts: FL_contact'),
    ({'kind': 'friction', 'sizes': {'FL_contact': 0.1}}, "for 'FL_contact'"),
])
def test_an_invalid_bound_is_refused(fields, words):
    """By its kind and the field."""
    q, v = state(0)
    with pytest.raises(DynamicsError) as error:
        solo12().whole_body(q, v, [Task('it', 'torque')], FEET, [Bound(**fields)])
    assert words in str(error.value)


def test_values_that_are_no_tasks_are_refused():
    """As the list or in it; no name twice."""
    q, v = state(0)
    robot, one = solo12(), Task('it', 'torque')
    for wrong, words in (('stand', 'tasks is'), ([{'kind': 'torque'}], 'is not a Task'),
                         ([one, one], "two tasks are called 'it'")):
        with pytest.raises(DynamicsError, match=words):
            robot.whole_body(q, v, wrong, FEET)
    with pytest.raises(DynamicsError, match='is not a Bound'):
        robot.whole_body(q, v, [one], FEET, ['torque'])
    with pytest.raises(DynamicsError, match='q must be one state'):
        robot.whole_body(np.stack([q, q]), v, [one], FEET)


def test_the_centre_of_pressure_stays_on_the_sole():
    """Of a humanoid that leans: the centres of pressure stay within the half sizes."""
    path = next(robot.path for robot in ROBOTS if str(robot) == 'talos')
    robot = Robot.from_urdf(path, base='floating', friction=False, compile=False)
    contacts = tuple(Constraint(side, 'flat_contact', f'{side}_sole_link', friction=0.7)
                     for side in ('left', 'right'))
    q, v = robot.neutral(), np.zeros(robot.nv)
    half = {contact.name: (0.1, 0.05) for contact in contacts}
    lean = Task('lean', 'center_of_mass', acceleration=(4.0, 1.0, 0.0), stiffness=0.0)
    todo = [lean, Task('posture', 'posture', 2, stiffness=0.0), Task('force', 'force', 3)]
    free = robot.whole_body(q, v, todo, contacts, [Bound('friction')])
    kept = robot.whole_body(q, v, todo, contacts, [Bound('friction', sizes=half)])
    where = {}
    for name, found in (('free', free), ('kept', kept)):
        assert found.status == 'solved'
        force = np.concatenate(list(found.forces.values()))
        where[name] = np.array([check.pressure for check in check_contacts(contacts, force)])
    assert (np.abs(where['kept']) <= np.array([0.1, 0.05]) + 1e-7).all()
    assert (np.abs(where['free']) > np.array([0.1, 0.05])).any()
