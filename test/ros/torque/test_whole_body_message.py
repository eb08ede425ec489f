"""Test the conversion of whole-body references: names, bounds, stamps, bytes."""

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from support.standing_robots import FEET, solo12

from dynamics_node import DynamicsError
from dynamics_node.msg import Task, TaskBound, WholeBodyReference
from dynamics_node.parameter import PerJoint
from dynamics_node.ros import convert
from dynamics_node.ros.parameters.torque import TorqueParameters
from dynamics_node.ros.torque.whole_body_message import (
    blend_of,
    check_age,
    read_whole_body,
    reference_of,
)

NAMES = [foot.name for foot in FEET]
P = TorqueParameters(effort_limits=PerJoint(named={'FL_HAA': 2.0}))
NOW = 5_000_000_000   # [ns]


@pytest.fixture(scope='module')
def robot():
    return solo12().with_loops(FEET)


def message(**fields):
    return WholeBodyReference(**{'contacts': NAMES, 'tasks': [Task(name='calm', kind='posture')],
                                 **fields})


def test_every_field_is_read(robot):
    found = reference_of(message(
        contacts=NAMES[1:], tasks=[Task(name='lift', kind='frame', level=2, frame='FL_FOOT',
                                        axes=['x', 'z'], stiffness=9.0, weight=0.5)],
        bounds=[TaskBound(kind='torque', limit=[1.0] * 18),
                TaskBound(kind='torque', limit=[3.0]), TaskBound(kind='friction', sides=8)]),
        robot, P, now=1.5)
    task, = found.tasks
    assert (task.name, task.level, task.frame, task.axes) == ('lift', 2, 'FL_FOOT', ('x', 'z'))
    assert (task.stiffness, task.damping, task.weight) == (9.0, 6.0, 0.5)
    assert np.array_equal(found.bounds[0].limit, np.ones(18))
    assert (found.bounds[1].limit, found.bounds[2].sides) == (3.0, 8)
    assert found.contacts == tuple(NAMES[1:]) and found.start == 1.5


def test_without_bounds_the_effort_limits_and_friction_count(robot):
    torque, friction = reference_of(message(), robot, P, 0.0).bounds
    assert torque.limit[:7].tolist() == [np.inf] * 6 + [2.0]
    assert torque.limit[7] == robot.model.joint('FL_HFE').max_effort
    assert friction.kind == 'friction'


def test_another_frame_is_refused(robot):
    wrong = message()
    wrong.header.frame_id = 'base_link'
    with pytest.raises(DynamicsError, match="header.frame_id is 'base_link'; expected ''"):
        reference_of(wrong, robot, P, 0.0)


@pytest.mark.parametrize('age', [-0.2, 0.2])
def test_a_stamp_far_from_now_is_refused(age):
    old = message()
    old.header.stamp = convert.time(NOW - round(age * 1e9))
    with pytest.raises(DynamicsError, match=f'header.stamp is {age} s old.*task_timeout'):
        check_age(old, NOW, P)


def test_recent_stamps_and_none_are_accepted():
    recent = message()
    check_age(recent, NOW, P)
    recent.header.stamp = convert.time(NOW - 50_000_000)
    check_age(recent, NOW, P)


def test_the_blend_is_that_of_the_message_or_of_the_parameter():
    assert blend_of(message(blend=0.7), P) == 0.7
    assert blend_of(message(), P) == P.blend_time


def test_bytes_are_read_and_the_frame_prefix_removed():
    sent = message(tasks=[Task(name='lift', kind='frame', frame='left/FL_FOOT')])
    assert read_whole_body(serialize_message(sent), 'left/').tasks[0].frame == 'FL_FOOT'
    with pytest.raises(DynamicsError, match='the bytes are no WholeBodyReference'):
        read_whole_body(b'\\0\\1', '')
    with pytest.raises(DynamicsError, match='at most'):
        read_whole_body(serialize_message(message(contacts=['x' * 20_000])), '')
