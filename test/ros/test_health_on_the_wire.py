"""Test that the node says what it waits for: log, diagnostics, replies."""

import time

import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from support.remote_node import joint_state, wait_until

from dynamics_node.example_robots import ARM7

pytestmark = pytest.mark.long

JOINTS = [f'joint_{k}' for k in range(1, 8)]
STATE = {'position': [0.1] * 7, 'velocity': [0.2] * 7}


def moving(node, names=JOINTS):
    """Publish a joint state of now."""
    node.publish(joint_state(time.time_ns(), names, [0.1] * len(names), [0.0] * len(names)))


def test_a_node_without_a_description_says_what_it_waits_for(launch):
    """Its transitions are in the log too."""
    node = launch()
    wait_until(lambda: 'waiting for a message on the topic robot_description' in
               node.process.log(), 'the reminder')
    assert 'lifecycle: configure: success' in node.process.log()
    assert 'lifecycle: activate: success' in node.process.log()
    node.describe(ARM7.read_text())
    wait_until(lambda: 'never measured: joint_1' in node.process.log(), 'the next reminder')


def test_joint_states_that_stop_are_a_warning_and_are_not_used(launch):
    """Requests with a state of their own are served; so are all when joint states return."""
    node = launch(f'robot_description:={ARM7}', 'max_state_age:=0.5')
    node.wait_for_diagnostics(lambda status: status.level == DiagnosticStatus.OK, 'all is well',
                              lambda: moving(node))
    status = node.wait_for_diagnostics(
        lambda status: 'no joint states for longer than max_state_age, 0.5 s' in status.message,
        'that joint states have stopped')
    assert status.level == DiagnosticStatus.WARN and 'joint_1' in status.message
    reply = node.call('inverse_dynamics')
    assert not reply.success
    assert 'max_state_age is 0.5 s (a parameter; 0: no limit)' in reply.message
    assert node.call('inverse_dynamics', **STATE).success
    wait_until(lambda: 'no joint states for longer' in node.process.log(), 'the log')
    node.wait_for_diagnostics(lambda status: status.level == DiagnosticStatus.OK, 'all is well',
                              lambda: moving(node))
    wait_until(lambda: moving(node) or node.call('inverse_dynamics').success, 'a reply')


def test_the_default_age_is_a_few_seconds(start_node, client):
    """Minutes-old states are not used."""
    from support.remote_node import RemoteNode
    node = RemoteNode(client, start_node(f'robot_description:={ARM7}', namespace='/aged'), '/aged')
    node.publish_until(lambda: not node.call('model_report').never_measured,
                       joint_state(time.time_ns() - 60_000_000_000, JOINTS, [0.1] * 7, [0.0] * 7))
    reply = node.call('inverse_dynamics')
    assert not reply.success and 'max_state_age is 5 s' in reply.message
