"""Test the watched node: what a node publishes arrives by name."""

import time

import pytest
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.remote_node import LATCHED, stamped_wrench, wait_until

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.msg import ContactStamped
from dynamics_node.ros import watched_node
from dynamics_node.ros.watched_node import WatchedNode, named


@pytest.fixture(scope='module')
def watched(arm):
    opened = WatchedNode(arm.node.name)
    yield opened
    opened.close()


def until(watched, condition, what):
    return wait_until(lambda: condition(watched.read()), what)


def test_description_and_joint_states_arrive_by_name(arm, watched):
    client, space = arm.node.client, arm.node.namespace
    client.create_publisher(String, f'{space}/robot_description', LATCHED).publish(
        String(data=ARM7.read_text()))
    until(watched, lambda state: state.model and state.model.text == ARM7.read_text().strip(),
          'the description')
    joints = client.create_publisher(JointState, f'{space}/joint_states', 10)

    def arrived(state):
        joints.publish(JointState(name=['joint_3'], position=[0.25]))
        return state.position is not None and state.position.values.get('joint_3') == 0.25
    until(watched, arrived, 'the joint states')


def test_a_slow_publisher_of_joint_states_is_not_lost_beside_a_fast_one(arm, watched):
    slow, fast = (arm.node.client.create_publisher(
        JointState, f'{arm.node.namespace}/joint_states', 50) for _ in range(2))
    until(watched, lambda _: slow.get_subscription_count() == fast.get_subscription_count() > 0,
          'the connections')
    for _ in range(30):
        watched.read()
        time.sleep(0.02)

    def arrived(state):
        slow.publish(JointState(name=['slow_joint'], position=[0.5]))
        for _ in range(20):
            fast.publish(JointState(name=['fast_joint'], position=[0.25]))
        time.sleep(0.05)
        return state.position is not None and {'slow_joint', 'fast_joint'} <= set(
            state.position.values)
    until(watched, arrived, 'both')


def test_gate_and_rate_come_from_the_diagnostics(watched):
    state = until(watched, lambda state: state.gate and state.rate and state,
                  'the diagnostics')
    assert state.node_exists and state.gate == 'disabled' and state.mode == 'gravity'


def test_wrenches_and_contacts_arrive(arm, watched):
    node = arm.node
    wrench = stamped_wrench('tool0', [1.0, 2.0, 3.0, 0.1, 0.2, 0.3])

    def arrived(state):
        node.publisher(WrenchStamped, 'dynamics_node/external_wrench').publish(wrench)
        node.publisher(ContactStamped, 'dynamics_node/contact', LATCHED).publish(
            ContactStamped(contact=True, joint_names=['joint_2']))
        return state.wrenches and state.contact_joints and state
    found = until(watched, arrived, 'the wrench')
    assert found.wrenches['given'].frame == 'tool0' and found.contact_joints == ('joint_2',)
    assert found.wrenches['given'].force.tolist() == [1.0, 2.0, 3.0]


def test_a_model_that_has_just_arrived_has_its_own_base(watched, monkeypatch):
    """A callback of the read brings a floating base."""
    model = until(watched, lambda state: state.model, 'the model')
    floating = Robot.from_urdf(ARM7, base='floating', compile=False)

    def spin_once(timeout_sec):
        monkeypatch.setattr(watched._model, 'model', model._replace(robot=floating))
    with monkeypatch.context() as during:
        during.setattr(watched._executor, 'spin_once', spin_once)
        found = watched.read()
    assert found.model.robot is floating and found.base.joint == floating.joint_names[0]


def test_a_node_of_another_name_is_not_there(watched, monkeypatch):
    monkeypatch.setattr(watched, '_base', 'absent')
    assert not watched.read().node_exists


def test_numbers_of_several_publishers_are_merged():
    assert named(['a', 'b'], [1.0, 2.0], named(['b', 'c'], [5.0, 6.0])).values == {
        'a': 1.0, 'b': 2.0, 'c': 6.0}


def test_each_joint_keeps_the_time_of_its_own_message(monkeypatch):
    """A publisher that has gone silent is not hidden by another one."""
    clock = iter([10.0, 20.0])
    monkeypatch.setattr(watched_node.time, 'monotonic', lambda: next(clock))
    assert named(['b'], [2.0], named(['a', 'b'], [5.0, 6.0])).arrived == {'a': 10.0, 'b': 20.0}
