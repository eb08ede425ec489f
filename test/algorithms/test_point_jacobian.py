"""Test Jacobians of points, in the world and relative to a link, by differences of poses."""

import numpy as np
import pytest
from support.differences import along, relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node import DynamicsError

POINT = np.array([0.3, -0.2, 0.5])
PAIRS = (('l3', 'l10'), ('l10', 'l0'), ('l5', 'base'))


def twist_of(T, rate):
    """Return (linear, angular) velocity of a homogeneous matrix and its rate."""
    W = rate[:3, :3] @ T[:3, :3].T
    return np.array([*rate[:3, 3], W[2, 1], W[0, 2], W[1, 0]])


def point_pose(robot, q, frame):
    """Return the homogeneous matrix of a frame at POINT."""
    T = np.array(robot.frame_pose(q, frame))
    T[:3, 3] += T[:3, :3] @ POINT
    return T


def test_in_the_world_it_is_the_rate_of_the_point(tree):
    """J v; without a point it is the Jacobian of the frame."""
    robot, _, q, v, *_ = tree
    for frame, _other in PAIRS:
        rate = along(robot, lambda x, frame=frame: point_pose(robot, x, frame), q, v)
        twist = robot.point_jacobian(q, frame, POINT) @ v
        assert relative(twist, twist_of(point_pose(robot, q, frame), rate)) < RATE_BY_DIFFERENCES
        assert relative(robot.point_jacobian(q, frame), robot.jacobian(q, frame)) < EXACT_MATHS


def test_relative_to_a_link_it_is_the_rate_of_the_point_seen_from_there(tree):
    """Of the pose in the axes of the other link, which moves and turns."""
    robot, _, q, v, *_ = tree
    for frame, other in PAIRS:
        def seen(x, frame=frame, other=other):
            return np.linalg.inv(robot.frame_pose(x, other)) @ point_pose(robot, x, frame)
        twist = robot.point_jacobian(q, frame, POINT, relative_to=other) @ v
        assert relative(twist, twist_of(seen(q), along(robot, seen, q, v))) < RATE_BY_DIFFERENCES


def test_points_of_one_link_do_not_move_relative_to_it(tree):
    """J = 0; in a batch too."""
    robot, _, q, *_ = tree
    assert relative(robot.point_jacobian([q, q], 'l4', POINT, 'l4'),
                    np.zeros((2, 6, robot.nv))) < EXACT_MATHS


def test_bad_input_is_refused_by_name(arm):
    with pytest.raises(DynamicsError, match='point is'):
        arm.point_jacobian(arm.neutral(), 'tool0', [1.0, 2.0])
    with pytest.raises(DynamicsError, match="no frame 'hand'"):
        arm.point_jacobian(arm.neutral(), 'tool0', relative_to='hand')
