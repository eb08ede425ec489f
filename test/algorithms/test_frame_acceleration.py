"""Test accelerations of frames on random trees of every joint type."""

import numpy as np
from support.differences import along, relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

FRAMES = ('base', 'l0', 'l3', 'l5', 'l10')  # l5 is fixed to another link


def test_acceleration_is_that_of_the_jacobian(tree):
    """J a + dJ/dt v, and the same vectors in the frame's axes."""
    robot, _, q, v, a, *_ = tree
    for frame in FRAMES:
        found = robot.frame_acceleration(q, v, a, frame)
        expected = robot.jacobian(q, frame) @ a + robot.jacobian_rate(q, v, frame) @ v
        assert relative(found, expected) < EXACT_MATHS
        R = robot.frame_pose(q, frame)[:3, :3]
        local = robot.frame_acceleration(q, v, a, frame, local=True)
        assert relative([*(R @ local[:3]), *(R @ local[3:])], found) < EXACT_MATHS


def test_acceleration_is_the_rate_of_the_twist(tree):
    """By differences of the twist along the motion; gravity has no effect."""
    robot, _, q, v, a, *_ = tree
    for frame in FRAMES:
        rate = (along(robot, lambda x, frame=frame: robot.frame_twist(x, v, frame), q, v)
                + robot.frame_twist(q, a, frame))
        weightless = robot.with_gravity(np.zeros(3)).frame_acceleration(q, v, a, frame)
        assert relative(weightless, rate) < RATE_BY_DIFFERENCES
        assert (robot.frame_acceleration(q, v, a, frame) == weightless).all()
