"""Test that the serving process knows every joint state, with and without the torque process."""

import signal

import numpy as np
import pytest
from support.remote_node import wait_until
from support.reply_stamps import stamp_of
from support.torque_wire import Arm, parameters


@pytest.fixture(scope='module', params=['unknown', 'motor_torque'])
def arm(launch_once, request):
    """An arm that a node measures; with motor_torque the node stores every joint state."""
    made = Arm(launch_once(*parameters(), f'observer.effort_meaning:={request.param}'))
    wait_until(lambda: made.step() or measured(made), 'the first joint state')
    yield made
    made.close()


def measured(arm):
    """Return the stamp of the measured state that a service uses."""
    reply = arm.node.call('inverse_dynamics')
    return stamp_of(reply) if reply.success else None


def newest(arm):
    """Send a joint state; return its stamp."""
    before = set(arm.sent)
    arm.step()
    return (arm.sent - before).pop()


def test_a_service_has_the_newest_joint_state(arm):
    """Both while joint states wait in the queue and while each is received at once."""
    for _ in range(20):
        stamp = newest(arm)
        wait_until(lambda stamp=stamp: measured(arm) == stamp, 'the joint state')


def test_a_service_has_the_newest_joint_state_while_torques_are_enabled(arm):
    arm.enabled()
    for _ in range(20):
        stamp = newest(arm)
        wait_until(lambda stamp=stamp: measured(arm) == stamp, 'the joint state')
    arm.disable()


def test_the_node_subscribes_once(arm):
    """By the hidden node of the torque process."""
    client = arm.node.client
    names = [each.node_name for each in
             client.get_subscriptions_info_by_topic(f'{arm.node.namespace}/joint_states')]
    assert names == ['_dynamics_node_torque']


def test_joint_states_arrive_after_the_end_of_the_torque_process(launch):
    """The serving process then subscribes itself."""
    arm = Arm(launch(*parameters()))
    wait_until(lambda: arm.step() or measured(arm), 'a joint state')
    arm.torque_process().send_signal(signal.SIGKILL)
    arm.run_until(lambda: arm.said('the torque process'), 'the failure')
    arm.q = arm.q + 0.1
    torque = arm.robot.inverse_dynamics(arm.q, np.zeros(7), np.zeros(7))
    wait_until(lambda: arm.step() or np.allclose(arm.node.call('inverse_dynamics').effort, torque),
               'a joint state')
    for _ in range(5):
        stamp = newest(arm)
        wait_until(lambda stamp=stamp: measured(arm) == stamp, 'the joint state')
    arm.close()
