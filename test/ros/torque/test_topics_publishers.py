"""Test two publishers of joint states on the wire: of the same joint, and of different ones.

Each case ends in Arm.ended_safely or Arm.check, which look at every message since it began.
"""

import pytest
import rclpy
from sensor_msgs.msg import JointState
from support.remote_node import joint_state
from support.torque_wire import EFFORT

from dynamics_node.ros import convert

pytestmark = pytest.mark.long


@pytest.fixture
def arm(driven_arm):
    """An arm at rest, its torques disabled."""
    return driven_arm.prepared()


@pytest.fixture
def intruder(arm):
    """Another node that publishes joint states: a function of names, positions."""
    node = rclpy.create_node('intruder', namespace=arm.node.namespace,
                             context=arm.node.client.context)
    publisher = node.create_publisher(JointState, 'joint_states', 10)

    def publish(names, positions):
        message = joint_state(arm.now(), names, positions, [0.0] * len(names))
        arm.sent.add(convert.nanoseconds(message.header.stamp))
        publisher.publish(message)
    yield publish
    node.destroy_node()
    arm.run_until(lambda: arm.node.client.count_publishers(
        f'{arm.node.namespace}/joint_states') == 1, 'that the driver is alone')


@pytest.mark.parametrize('names, off', [
    (list(EFFORT), 0.0), (list(EFFORT), 0.01), (list(EFFORT), 0.5), (['finger', 'joint_3'], 0.01)],
    ids=['same state', 'near', 'far', 'one joint'])
def test_two_publishers_of_a_joint_are_a_fault_that_names_them(arm, intruder, names, off):
    """Also if they agree: no node knows which state is right."""
    place = {name: k for k, name in enumerate(EFFORT)}

    def step():
        arm.step()
        intruder(names, [arm.q[place[name]] + off if name in place else 0.0 for name in names])
    arm.enabled()
    arm.until_fault('two publishers of', step)
    message = arm.statuses[-1].message
    assert f'{arm.node.namespace}/intruder' in message and 'joint_3' in message
    assert f'/{arm.node.client.get_name()}' in message
    arm.run_until(lambda: 'two publishers of' in arm.enable().message, 'a refusal', step)
    arm.ended_safely('zero')


def test_an_arm_and_a_gripper_are_no_fault(arm, intruder):
    """Two nodes with different joints on the same topic."""
    arm.enabled()
    for _ in range(40):
        arm.step()
        intruder(['finger', 'knuckle'], [0.1, 0.2])
    arm.is_held()
    assert arm.said('enabled')
    arm.check()


def test_a_restarted_driver_is_no_fault(arm):
    """Its messages are numbered from 1 on again."""
    arm.enabled_and_disabled()
    arm.ended_safely()
    for key in [key for key in arm.node._publishers if key[1] == 'joint_states']:
        arm.node.client.destroy_publisher(arm.node._publishers.pop(key))
    arm.run_until(lambda: arm.node.client.count_publishers(
        f'{arm.node.namespace}/joint_states') == 1, 'that the old driver is gone')
    arm.enabled_and_disabled()
    arm.ended_safely()
