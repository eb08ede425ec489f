"""Test the external-torque observer over the topics of a real node."""

import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from support.remote_node import BEST_EFFORT, LATCHED, joint_state, wait_until

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.msg import ContactStamped
from dynamics_node.ros import convert

Q = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])
STILL = np.zeros(7)
PUSH = np.array([20.0, 0.0, 0.0, 0.0, 0.0, 0.0])
STEP = 2_000_000   # [ns] between two stamps
ON = {'observer.effort_meaning': 'motor_torque', 'observer.bandwidth.default': 50.0,
      'observer.thresholds.default': 2.0, 'observer.frame': 'tool0'}
OFF = {'observer.effort_meaning': 'unknown', 'observer.frame': ''}


class Listening:
    """A node, and its messages about external torques."""

    def __init__(self, node):
        self.node, self.robot = node, Robot.from_urdf(ARM7)
        self.torques, self.wrenches, self.contacts, self.said = [], [], [], []
        self._stamp, name = time.time_ns(), node.name
        for kind, topic, box, qos in (
                (JointState, f'{name}/external_torque', self.torques, BEST_EFFORT),
                (WrenchStamped, f'{name}/external_wrench_estimate', self.wrenches, BEST_EFFORT),
                (ContactStamped, f'{name}/contact', self.contacts, LATCHED)):
            node.client.create_subscription(kind, topic, box.append, qos)
        node.client.create_subscription(DiagnosticArray, '/diagnostics', self._hear, 10)

    def _hear(self, array):
        self.said += [status for status in array.status
                      if status.name == f'{self.node.name}: contact']

    def send(self, push=None, until=lambda: True):
        """Publish ten joint states of an arm at rest, and more until something has happened."""
        wrenches = None if push is None else {'tool0': push}
        effort = self.robot.inverse_dynamics(Q, STILL, STILL, wrenches)

        def sent():
            for _ in range(10):
                self._stamp += STEP
                self.node.publish(joint_state(self._stamp, self.robot.joint_names, Q, STILL,
                                              effort))
                time.sleep(0.001)
            return until()
        wait_until(sent, 'what joint states should have brought')

    def has_sent(self, stamp):
        """Return whether a joint state had this stamp."""
        ago = self._stamp - convert.nanoseconds(stamp)
        return ago >= 0 and ago % STEP == 0

    def status(self, condition, what):
        begin = len(self.said)
        return wait_until(lambda: self._said(begin, condition), what)

    def status_while_sending(self, condition, push=None):
        begin = len(self.said)
        self.send(push, until=lambda: self._said(begin, condition))
        return self._said(begin, condition)

    def _said(self, begin, condition):
        return next((each for each in self.said[begin:] if condition(each)), None)


@pytest.fixture(scope='module')
def listening(launch_once):
    return Listening(launch_once(f'robot_description:={ARM7}'))


def test_off_until_the_meaning_of_effort_is_declared(listening):
    """Nothing is published, and diagnostics have the reason."""
    status = listening.status(lambda each: each.message.startswith('off: '), 'that it is off')
    assert 'effort_meaning is unknown' in status.message
    assert not listening.torques and not listening.contacts


def test_a_push_comes_out_on_all_topics(listening):
    assert listening.node.set_parameters(ON) == ''
    listening.send(until=lambda: len(listening.torques) > 3 and len(listening.contacts) == 1)
    assert not listening.contacts[0].contact
    assert listening.contacts[0].joint_names == []
    external =  listening.robot.jacobian(Q, 'tool0', local=True).T @ PUSH

    def settled():
        return np.abs(np.array(listening.torques[-1].effort) - external).max() < 0.01
    listening.send(PUSH, until=settled)
    assert list(listening.torques[-1].name) == list(listening.robot.dof_names)
    wait_until(lambda: listening.contacts[-1].contact, 'a contact')
    begun = listening.contacts[-1]
    assert listening.has_sent(begun.header.stamp)
    assert set(begun.joint_names) <= set(np.array(listening.robot.dof_names)[
        np.abs(external) > ON['observer.thresholds.default']])
    assert begun.joint_names
    wait_until(lambda: abs(listening.wrenches[-1].wrench.force.x - 20.0) < 0.1, 'the wrench')
    assert listening.wrenches[-1].header.frame_id == 'tool0'
    status = listening.status_while_sending(lambda each: each.message.startswith('contact: '), PUSH)
    values = {item.key: item.value for item in status.values}
    assert values['contacts'] == '1'
    assert abs(float(values['external: joint_2']) - external[1]) < 0.1
    listening.send(until=lambda: not listening.contacts[-1].contact)
    listening.status_while_sending(lambda each: each.message == 'no contact')
    assert [each.contact for each in listening.contacts] == [False, True, False]
    stamps = [convert.nanoseconds(each.header.stamp) for each in listening.contacts]
    assert stamps == sorted(stamps) and listening.contacts[-1].joint_names == []


def test_missing_joint_states_are_reported(listening):
    """The last message on ~/contact is old then."""
    assert listening.node.set_parameters(ON) == ''
    listening.send(until=lambda: len(listening.torques) > 3)
    status = listening.status(lambda each: 'no joint states are received' in each.message,
                              'that nothing is received')
    assert status.level == DiagnosticStatus.WARN


def test_parameters_that_do_not_fit_are_refused_and_nothing_changes(listening):
    assert listening.node.set_parameters(ON) == ''
    reason = listening.node.set_parameters({'observer.frame': 'hand'})
    assert "no frame 'hand'" in reason
    assert 'torque_constants lack' in listening.node.set_parameters(
        {'observer.effort_meaning': 'current'})
    count = len(listening.torques)
    listening.send(until=lambda: len(listening.torques) > count)


def test_a_disabled_observer_publishes_nothing(listening):
    assert listening.node.set_parameters(ON) == ''
    count = len(listening.torques)
    listening.send(until=lambda: len(listening.torques) > count)
    assert listening.node.set_parameters(OFF) == ''
    listening.status(lambda each: each.message.startswith('off: '), 'that it is off')
    count = len(listening.torques)
    for _ in range(20):
        listening.send()
    listening.status(lambda each: True, 'anything')
    assert len(listening.torques) == count
