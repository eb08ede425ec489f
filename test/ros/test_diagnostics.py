"""Test the message on /diagnostics against REP 107."""

from types import SimpleNamespace

import pytest

pytest.importorskip('diagnostic_msgs')

from support.node_states import node_state_of  # noqa: E402

from dynamics_node.example_robots import ARM7  # noqa: E402
from dynamics_node.ros.diagnostics import diagnostics  # noqa: E402
from dynamics_node.ros.parameters.declared import DEFAULTS, checked  # noqa: E402
from dynamics_node.ros.services.runner import ServiceRunner  # noqa: E402
from dynamics_node.ros.torque.records import status_without_process  # noqa: E402

NAME = '/left/dynamics_node'


@pytest.fixture
def statuses():
    node_state = node_state_of(ARM7, compile=False)
    torque = SimpleNamespace(status=status_without_process('no process'), failure='no process',
                             watchdog_failure='', watchdog_pid=0, pid=0, lost_joint_states=0)
    return diagnostics(NAME, node_state, ServiceRunner(node_state, print), None, 0.0,
                       torque=torque, parameters=checked(DEFAULTS)).status


def test_every_status_names_the_node_and_its_part(statuses):
    """With the namespace: the nodes of several robots are told apart."""
    assert [status.name for status in statuses] == [
        NAME, f'{NAME}: torque', f'{NAME}: contact']


def test_every_status_names_the_robot_as_its_hardware(statuses):
    """A tool can group all statuses of one robot."""
    assert [status.hardware_id for status in statuses] == ['arm7'] * 3


def test_keys_are_unique_within_a_status(statuses):
    """Tools show one value per key."""
    for status in statuses:
        keys = [value.key for value in status.values]
        assert keys and len(set(keys)) == len(keys)
