"""Test what the node says is missing, and when it is logged, without ROS."""

import numpy as np
import pytest
from support.node_states import NOW, measure, node_state_of
from support.tiny_robots import TWO_JOINTS, chain

from dynamics_node import DynamicsError
from dynamics_node.ros.health import AGAIN, FIRST, Health, HealthLevel, Reminder, health
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters.declared import ModelParameters

ZERO = np.zeros(2)
SECOND = 1_000_000_000   # [ns]


def test_without_a_robot_the_topic_is_named():
    found = health(NodeState(lambda: NOW, lambda: 0.0, ModelParameters()))
    assert (found.level, found.kind) == (HealthLevel.ERROR, 'robot')
    assert 'waiting for a message on the topic robot_description' in found.message


def test_a_refused_description_is_an_error_also_with_a_robot():
    node_state = node_state_of(TWO_JOINTS)
    with pytest.raises(DynamicsError):
        node_state.load('<robot name="r"/>')
    found = health(node_state)
    assert found.level == HealthLevel.ERROR and 'the previous robot is still used' in found.message


def test_joints_that_were_never_measured_are_named():
    node_state = node_state_of(TWO_JOINTS)
    measure(node_state, ZERO, ZERO, joints=['elbow'])
    assert health(node_state) == (HealthLevel.WARN, 'never measured', 'never measured: shoulder')


@pytest.mark.parametrize(('limit', 'age', 'level'), [
    (5.0, 4.9, HealthLevel.OK), (5.0, 5.1, HealthLevel.WARN), (0.0, 3600.0, HealthLevel.OK)])
def test_joint_states_that_stopped_are_a_warning(limit, age, level):
    node_state = node_state_of(TWO_JOINTS, max_state_age=limit)
    measure(node_state, ZERO, ZERO)
    node_state.clocks.now += round(age * SECOND)
    assert health(node_state).level == level


def test_the_oldest_joints_are_named_first():
    node_state = node_state_of(chain(*((name, 'revolute') for name in 'abcdefg')),
                               max_state_age=5.0)
    q = np.zeros(7)
    for k, name in enumerate('abcdefg'):
        measure(node_state, q, q, age=k * SECOND, joints=[name])
    node_state.clocks.now += 10 * SECOND
    assert health(node_state).message == (
        'no joint states for longer than max_state_age, 5 s: g 16.0 s, f 15.0 s, e 14.0 s, '
        'd 13.0 s, c 12.0 s and 2 more')


def test_a_reminder_comes_after_some_seconds_and_then_rarely():
    reminder, missing = Reminder(), Health(HealthLevel.ERROR, 'robot', 'no robot')
    times = [now for now in np.arange(0.0, 200.0) if reminder.check(missing, now)]
    assert times == [FIRST, FIRST + AGAIN, FIRST + 2 * AGAIN, FIRST + 3 * AGAIN]


def test_the_end_of_what_was_logged_is_logged_once():
    reminder, fine = Reminder(), Health(HealthLevel.OK, '', 'serving')
    missing = Health(HealthLevel.WARN, 'old', 'no joint states')
    assert reminder.check(missing, 0.0) == reminder.check(fine, 1.0) == ''   # it was not logged
    reminder.check(missing, 2.0)
    assert reminder.check(missing, 8.0) == 'no joint states'
    assert [reminder.check(fine, now) for now in (9.0, 10.0, 100.0)] == ['serving', '', '']
