"""Test that springs and actuators refuse what is not valid."""

import pickle

import numpy as np
import pytest

from dynamics_node import Actuator, DynamicsError, Spring


@pytest.mark.parametrize(('fields', 'words'), [
    ({'name': ''}, 'the name of a spring is'),
    ({'stiffness': -1.0}, "spring 's': stiffness is -1.0; expected zero or a positive number"),
    ({'damping': np.nan}, 'damping is nan; expected a finite number'),
    ({'rest': 'long'}, "rest is 'long'; expected a finite number"),
    ({'joint': 3}, 'joint'),
    ({'joint': ''}, "has joint '' and frame ''; expected one of the two"),
    ({'frame': 'tool0'}, 'expected one of the two'),
    ({'joint': '', 'frame': 'tool0', 'rest': -0.1}, 'rest is -0.1; expected a length'),
    ({'joint': '', 'frame': 'tool0', 'point': (1, 2)}, 'point is (1, 2); expected 3 finite'),
])
def test_an_invalid_field_is_refused(fields, words):
    """By name."""
    with pytest.raises(DynamicsError) as refusal:
        Spring(**{'name': 's', 'stiffness': 1.0, 'joint': 'joint_1', **fields})
    assert words in str(refusal.value)


@pytest.mark.parametrize(('springs', 'words'), [
    ([Spring('s', joint='x')], "spring 's': joint: no joint 'x'; the robot has: joint_1, joint_2"),
    ([Spring('s', frame='x')], "spring 's': frame: no frame 'x'; the robot has: base_link, link_1"),
    ([Spring('s', frame='world')], "spring 's': frame: no frame 'world'"),
    ([Spring('s', frame='tool0', to='x')], "spring 's': to: no frame 'x'; the robot has: base_lin"),
    ([Spring('s', frame='tool0', to='tool0')],
     "spring 's': connects 'tool0' to 'tool0', which is fixed to it; expected a link that moves"),
    ([Spring('s', joint='joint_1')] * 2, "springs has 's' twice"),
    (['s'], "spring number 1 is 's'; expected fields: name, stiffness, damping, rest, joint, fra"),
    (3, 'the springs are 3; expected a YAML text'),
])
def test_springs_that_do_not_fit_the_robot_are_refused(arm, springs, words):
    """By name."""
    with pytest.raises(DynamicsError) as refusal:
        arm.with_springs(springs)
    assert words in str(refusal.value)


def test_actuators_that_do_not_fit_the_robot_are_refused(arm):
    """As springs are."""
    still = np.zeros(7)
    for actuators, words in (([Actuator('a', 'x')], "actuator 'a': frame: no frame 'x'"),
                             ([3], 'actuators')):
        with pytest.raises(DynamicsError, match=words):
            arm.actuator_motion(still, still, actuators)


def test_a_robot_with_springs_pickles_and_keeps_them_through_changes(arm):
    """They are part of the model."""
    springs = (Spring('s', 1.0, joint='joint_1', rest=0.1), Spring('t', 2.0, frame='tool0'))
    sprung = arm.with_springs(springs)
    assert pickle.loads(pickle.dumps(sprung)).springs == springs
    assert sprung.with_payload('load', 'tool0', 1.0).springs == springs
    assert sprung.with_gravity((0, 0, 0)).springs == springs
    assert sprung.with_springs(()).springs == arm.springs == ()
    assert 'The same robot without its springs: Robot.from_urdf' in sprung.to_urdf()
    both = arm.with_springs({'springs': springs, 'actuators': [{'name': 'a', 'frame': 'tool0'}]})
    assert 'without its springs and actuators: Robot' in both.to_urdf()
    assert pickle.loads(pickle.dumps(both)).actuators == both.actuators


@pytest.mark.parametrize(('field', 'value'), [('to', 'link_2'), ('point', (1.0, 0.0, 0.0)),
                                              ('to_point', (0.0, 1.0, 0.0))])
def test_a_spring_at_a_joint_has_no_ends(field, value):
    with pytest.raises(DynamicsError, match=f"spring 'a': is at a joint and has {field}"):
        Spring('a', 5.0, joint='joint_1', **{field: value})
