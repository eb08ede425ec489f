"""Test which links touch along a trajectory: at its points, between them, and with loops."""

import numpy as np
import pytest
from support.folding_chain import chain, folding

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.identification.trajectory_files import TimedPoints
from dynamics_node.inspector.self_collision import self_collisions
from dynamics_node.inspector.trajectory_check import NOT_CLOSED, trajectory_collisions


def test_a_contact_between_two_points_is_found():
    """Two points are apart from each other; the spline between them passes the contact."""
    urdf, (times, q) = chain(), folding()
    robot = Robot.from_urdf(urdf)
    contact = self_collisions(robot, urdf, times, q).found[0].time
    points = TimedPoints(('joint_3', 'joint_2'), np.array([0.0, 2.0]),
                         np.array([[0.0, 2.0], [3.0, 2.0]]), None, None)
    ends = np.zeros((2, 3))
    ends[:, [2, 1]] = points.positions
    assert not self_collisions(robot, urdf, points.times[:1], ends[:1]).found
    (found,) = trajectory_collisions(robot, urdf, points).found
    assert found.links == ('link_1', 'link_3')
    s = np.linspace(0.0, 1.0, 10_001)
    angle = 3.0 * (3.0 * s ** 2 - 2.0 * s ** 3)   # at rest at both ends
    assert found.time == pytest.approx(2.0 * s[np.argmax(angle >= contact)], abs=0.05)


def test_a_trajectory_without_a_contact_has_no_warning():
    urdf = chain()
    points = TimedPoints(('joint_1', 'joint_3'), np.array([0.0, 1.0]),
                         np.array([[0.0, 0.0], [1.0, 0.5]]), None, None)
    assert trajectory_collisions(Robot.from_urdf(urdf), urdf, points).warnings == ()


def test_dependent_joints_of_loops_follow():
    """A trajectory along which the loops do not close is not checked, and that is said."""
    mechanism = MECHANISMS['five_bar']
    robot = Robot.from_urdf(mechanism.urdf, loops=mechanism.loops)
    urdf = mechanism.urdf if isinstance(mechanism.urdf, str) else mechanism.urdf.read_text()
    names = ('left_shoulder', 'right_shoulder')
    near = TimedPoints(names, np.array([0.0, 1.0]), np.array([[0.0, 0.0], [0.05, -0.05]]), None,
                       None)
    assert NOT_CLOSED not in trajectory_collisions(robot, urdf, near).notes
    far = near._replace(positions=np.array([[0.0, 0.0], [3.0, -3.0]]))
    assert trajectory_collisions(robot, urdf, far).notes == (NOT_CLOSED,)


def test_an_unknown_joint_is_refused():
    urdf = chain()
    points = TimedPoints(('nowhere',), np.array([0.0, 1.0]), np.zeros((2, 1)), None, None)
    with pytest.raises(DynamicsError, match='nowhere'):
        trajectory_collisions(Robot.from_urdf(urdf), urdf, points)
