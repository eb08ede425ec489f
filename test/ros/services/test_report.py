"""Test the tool chain end to end: a service of srv/, built, served and called by two processes."""

import pytest

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7


def test_the_node_reports_its_robot(launch):
    """The service gives the report of the library."""
    reply = launch(f'robot_description:={ARM7}', namespace='').call('model_report')
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
    ('robot_description:=""', "the parameter 'robot_description' is empty"),
])
def test_without_a_robot_the_reply_has_the_reason(launch, parameter, reason):
    """An invalid description is a reply, not a crash."""
    node = launch(parameter)
    reply = node.call('model_report')
    assert not reply.success
    assert reply.message.startswith('no robot')
    assert reason in reply.message
    if 'empty' not in reason:
        assert reason in node.process.log()
    node.assert_alive()
