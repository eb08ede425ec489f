"""Test FleetClient: robots found in the graph, called at once; errors of one are its own."""

import signal
import time

import numpy as np
import pytest
import rclpy
from support.remote_node import PATIENCE, assert_close, wait_until
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.ros import FleetClient, find_robots

SCARCE = 0.3   # [s]


@pytest.fixture(scope='module')
def robots(launch_once):
    """Two arms, and one whose gravity is that of the moon."""
    nodes = [launch_once(f'robot_description:={ARM7}', *more)
             for more in ((), (), ('gravity:=[0.0, 0.0, -1.62]',))]
    for each in nodes:
        each.call('model_report')
    return nodes


def test_all_robots_are_found_and_called(robots):
    names = sorted(each.name for each in robots)
    assert find_robots(robots[0].client, PATIENCE, 3) == names
    fleet = FleetClient(robots[0].client, timeout=PATIENCE)
    assert fleet.names == names
    q = np.linspace(-0.5, 0.5, 7)
    found = fleet.call('dynamics_terms', q, np.zeros(7))
    assert sorted(found.replies) == names and not found.errors
    earth, moon = (Robot.from_urdf(ARM7, gravity=(0.0, 0.0, -g)).gravity_torque(q)
                   for g in (9.81, 1.62))
    for each, gravity in zip(robots, (earth, earth, moon)):
        assert_close(found.replies[each.name].gravity, gravity, EXACT_MATHS)


def test_arguments_may_differ_and_a_refusal_stays_with_its_robot(robots):
    """Only the robots that are named are called."""
    fleet = FleetClient(robots[0].client, timeout=PATIENCE)
    found = fleet.call('set_payload', each={
        robots[0].name: {'name': 'box', 'frame': 'tool0', 'mass': 1.0},
        robots[1].name: {'name': 'box', 'frame': 'no_frame', 'mass': 1.0}})
    assert list(found.replies) == [robots[0].name]
    assert isinstance(found.errors[robots[1].name], DynamicsError)
    assert 'no_frame' in str(found.errors[robots[1].name])
    left = fleet.call('remove_payload', 'box').errors
    assert sorted(left) == sorted(each.name for each in robots[1:])   # those had none


def test_a_robot_that_is_not_there_delays_no_reply(robots):
    """It has an error of its own after the time for discovery."""
    fleet = FleetClient(robots[0].client, [robots[0].name, '/gone/dynamics_node'], PATIENCE, SCARCE)
    begin = time.monotonic()
    found = fleet.call('list_payloads')
    assert time.monotonic() - begin < PATIENCE
    assert list(found.replies) == [robots[0].name]
    assert "no service '/gone/dynamics_node/list_payloads' after 0.3 s" in str(
        found.errors['/gone/dynamics_node'])


def test_a_robot_that_ends_is_noticed(robots, launch):
    """The graph loses it."""
    node = launch(f'robot_description:={ARM7}')
    fleet = FleetClient(robots[0].client, timeout=PATIENCE)
    wait_until(lambda: node.name in fleet.names, 'the new robot')
    node.process.send_signal(signal.SIGINT)
    node.process.wait(PATIENCE)
    wait_until(lambda: node.name not in fleet.names, 'its end')
    assert sorted(fleet.call('list_payloads').replies) == sorted(each.name for each in robots)


def test_a_node_that_is_not_spun_can_call(robots, ros_environment):
    """The call spins it."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('fleet_caller', context=context)
    assert len(find_robots(node, PATIENCE, 3)) == 3
    fleet = FleetClient(node, timeout=PATIENCE)
    for _ in range(2):
        assert len(fleet.call('list_payloads').replies) == 3
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_an_unknown_method_and_an_empty_fleet_are_refused(client):
    fleet = FleetClient(client, names=[])
    with pytest.raises(DynamicsError, match="'enable'; expected one of .*inverse_dynamics"):
        fleet.call('enable')
    with pytest.raises(DynamicsError, match='no dynamics node is in the ROS graph'):
        fleet.call('inverse_dynamics')
