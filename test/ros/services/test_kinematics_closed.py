"""Test ~/kinematics of a closed mechanism: results of the library, refusals."""

import numpy as np
import pytest
from support.current_robots import close, node_state_at, state_of
from support.node_states import ask, node_state_of, refused
from support.tiny_robots import TWO_JOINTS

from dynamics_node.ros import convert

FRAMES = ['tool', 'right_fore']


@pytest.fixture(scope='module')
def five_bar():
    """(NodeState, robot, q, v, velocities of which only the coordinates are right)."""
    node_state, robot = node_state_at('five_bar')
    return node_state, robot, *state_of(robot)


@pytest.mark.parametrize('local', [False, True])
@pytest.mark.parametrize('coordinates', [[], ['right_elbow', 'left_elbow']])
def test_the_motion_is_that_of_the_library(five_bar, coordinates, local):
    """Velocities and accelerations of the other joints follow those of the coordinates."""
    node_state, robot, q, v = five_bar
    names = coordinates or ['left_shoulder', 'right_shoulder']
    entries = [robot.joint_names.index(name) for name in names]
    u, u_rate = np.full((2, 4), 99.0)
    u[entries], u_rate[entries] = v[entries], (2.0, -3.0)
    reply = ask(node_state, 'kinematics', frames=FRAMES, position=q, velocity=u, closed=True,
                coordinates=coordinates, acceleration=u_rate, jacobians=True, jacobian_rates=True,
                accelerations=True, local=local)
    assert reply.coordinates == names
    at = robot.closed_dynamics(q, v, coordinates=names)
    a = at.transmission @ u_rate[entries] + at.transmission_rate @ v[entries]
    found = [robot.closed_jacobian(q, v, frame, local, coordinates=names) for frame in FRAMES]
    close(np.reshape(reply.jacobians, (2, 6, 2)), [each.jacobian for each in found])
    close(np.reshape(reply.jacobian_rates, (2, 6, 2)), [each.rate for each in found])
    for frame, pose, twist, accel in zip(FRAMES, reply.poses, reply.twists, reply.accelerations):
        assert pose == convert.pose(robot.frame_pose(q, frame))
        close([*convert.xyz(twist.linear), *convert.xyz(twist.angular)],
              robot.frame_twist(q, v, frame))
        close([*convert.xyz(accel.linear), *convert.xyz(accel.angular)],
              robot.frame_acceleration(q, v, a, frame, local))


def test_positions_alone_give_poses_and_jacobians(five_bar):
    """Without velocities there are no twists."""
    node_state, robot, q, v = five_bar
    reply = ask(node_state, 'kinematics', frames=['tool'], position=q, closed=True,
                jacobians=True)
    assert not reply.twists
    close(np.reshape(reply.jacobians, (6, 2)), robot.closed_jacobian(q, v, 'tool').jacobian)


def test_analytic_jacobians_are_by_the_coordinates_too(five_bar):
    """Rates of a quaternion follow the velocities of the two motors."""
    node_state, robot, q, v = five_bar
    reply = ask(node_state, 'kinematics', frames=FRAMES, position=q, closed=True,
                rotation_parameters='quaternion')
    G = robot.closed_dynamics(q, v).transmission
    close(np.reshape(reply.analytic_jacobians, (2, reply.rows, 2)),
          [robot.analytic_jacobian(q, frame, 'quaternion') @ G for frame in FRAMES])


def test_what_has_no_answer_is_refused(five_bar):
    """Coordinates of the open tree, open loops, a tree without loops."""
    node_state, _, q, _ = five_bar
    assert refused(node_state, 'kinematics', position=q, coordinates=['left_elbow']) == (
        'coordinates is given, but it is read only with closed: true')
    assert 'the loops are open by' in refused(node_state, 'kinematics', position=q + 0.1,
                                              closed=True)
    assert refused(node_state_of(TWO_JOINTS), 'kinematics', position=[0.1, 0.2],
                   closed=True).startswith('closed is true, but the robot has no loops')
