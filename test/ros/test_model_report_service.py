"""The tool chain end to end: a service of srv/, built, served by one process, called by another."""

import signal
import time

import pytest

from dynamics_node import Robot
from dynamics_node.robots import ARM7

PATIENCE = 60.0  # [s] a deadline for a loaded machine, not a measurement


def ask(client, process):
    from dynamics_node.srv import ModelReport
    service = client.create_client(ModelReport, '/dynamics_node/model_report')
    deadline = time.monotonic() + PATIENCE
    while not service.wait_for_service(1.0):
        assert process.poll() is None, process.log()
        assert time.monotonic() < deadline, 'the service did not appear'
    return service.call(ModelReport.Request(), PATIENCE)


def test_the_node_reports_its_robot(client, start_node):
    """What the service says is what the library says."""
    reply = ask(client, start_node(f'robot_description:={ARM7}'))
    robot = Robot.from_urdf(ARM7)
    assert (reply.success, reply.message, reply.robot) == (True, '', 'arm7')
    assert reply.total_mass == robot.total_mass
    assert tuple(reply.joint_names) == robot.joint_names
    assert tuple(reply.frame_names) == robot.frame_names
    assert reply.report == str(robot.report())
    assert reply.findings[0].startswith('note: robot: damping')


@pytest.mark.parametrize(('parameter', 'reason'), [
    ('robot_description:=/no/such/file.urdf', 'no file'),
    ('robot_description:="<robot name=\\"r\\"/>"', 'no <link>'),
    ('robot_description:=""', "set the parameter 'robot_description'"),
])
def test_without_a_robot_the_node_says_why_and_keeps_running(client, start_node, parameter, reason):
    """A refused description is an answer, not a crash."""
    process = start_node(parameter)
    reply = ask(client, process)
    assert not reply.success
    assert reason in reply.message
    assert process.poll() is None
    assert reason in process.log()


@pytest.mark.parametrize('stop', [signal.SIGINT, signal.SIGTERM])
def test_the_node_stops_cleanly_when_told(client, start_node, stop):
    """Ctrl-C and a service manager: exit code 0, no traceback."""
    process = start_node(f'robot_description:={ARM7}')
    assert ask(client, process).success
    process.send_signal(stop)
    assert process.wait(PATIENCE) == 0
    assert 'Traceback' not in process.log()
