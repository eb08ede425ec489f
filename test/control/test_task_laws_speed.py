"""Test that mode task_space demands no joint speed beyond its limit near a stretched arm."""

import numpy as np
import pytest
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.algorithms.operational_space import consistent
from dynamics_node.control.task_laws import SPEED_SHARE, TaskRows, within_speed
from dynamics_node.control.torque_terms import TorqueTerms
from dynamics_node.example_robots import ARM7

SHOULDER = np.array([0.0, 0.0, 0.33])  # [m]


@pytest.fixture(scope='module')
def terms():
    return TorqueTerms(Robot.from_urdf(ARM7, compile=False))


def outwards(terms, elbow, speed):
    """Return (the exact Consistent inverse, the one within speeds, a twist off the shoulder)."""
    robot, q = terms.robot, np.array([0.0, 0.9, 0.0, elbow, 0.0, -0.5, 0.0])
    away = robot.frame_pose(q, 'tool0')[:3, 3] - SHOULDER
    w = np.concatenate([speed * away / np.linalg.norm(away), np.zeros(3)])
    still = np.zeros(6)
    rows = TaskRows(robot.jacobian(q, 'tool0'), still, still, still, w, still, still,
                    np.zeros(6, dtype=bool), robot.mass_matrix_inverse(q),
                    terms.reference_inertia('tool0'))
    exact = consistent(rows.jacobian, rows.inverse, rows.reference)
    return exact, within_speed(exact, rows, fastest(terms)), w


def fastest(terms):
    return SPEED_SHARE * terms.max_velocity


@pytest.mark.parametrize('speed', [0.05, 0.25, 0.5])
@pytest.mark.parametrize('elbow', [-1.2, -0.6, -0.3, -0.1, -0.03, -0.01, -0.001, 0.0])
def test_demanded_joint_speeds_are_within_limits(terms, elbow, speed):
    """From bent to stretched; the exact inverse demands up to sixteen times as much."""
    _, within, w = outwards(terms, elbow, speed)
    assert (np.abs(within.consistent_inverse @ w) <= fastest(terms)).all()


def test_a_slow_motion_of_a_bent_arm_is_exact(terms):
    """It is not damped."""
    for elbow, speed in ((-1.2, 0.25), (-0.6, 0.05), (-0.3, 0.05)):
        exact, within, w = outwards(terms, elbow, speed)
        assert not within.damping.any()
        for one, other in zip(within, exact):
            np.testing.assert_allclose(one, other, atol=EXACT_MATHS)


def test_a_reference_at_rest_is_not_damped(terms):
    exact, within, _ = outwards(terms, -0.1, 0.0)
    assert within is exact
