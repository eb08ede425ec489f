"""Test the figures of a state: margins, greatest payload, ellipsoids."""

import numpy as np
import pytest
from support.differences import relative
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.inspector.figures import MotionState, figures, frame_ellipsoids
from dynamics_node.inspector.load_case import (
    ALL_JOINTS,
    LOAD,
    LoadCase,
    motion_of_case,
    robot_of_case,
)

Q = np.array([0.3, 0.7, -0.2, 1.1, 0.4, -0.6, 0.1])


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(ARM7, compile=False)


def test_margin_and_share_are_those_of_the_limits_in_the_urdf(arm):
    state = MotionState(Q, np.zeros(7), np.zeros(7))
    found = figures(arm, state, 'tool0')
    limits = np.array([120, 120, 80, 80, 40, 20, 20])
    assert np.array_equal(found.limit, limits)
    torque = arm.gravity_torque(Q)
    assert relative(found.torque, torque) < EXACT_MATHS
    assert relative(found.margin, limits - np.abs(torque)) < EXACT_MATHS
    assert relative(found.share, np.abs(torque) / limits) < EXACT_MATHS


def test_with_the_greatest_payload_one_joint_is_at_its_limit(arm):
    case = LoadCase(Q, 'tool0', speed=0.3, acceleration=0.5)
    state = motion_of_case(arm, case)
    most = figures(arm, state, 'tool0').greatest_payload
    loaded = figures(robot_of_case(arm, case._replace(payload_mass=most)), state, 'tool0')
    assert np.nanmax(loaded.share) == pytest.approx(1.0, rel=SOLVED)


def test_an_unknown_limit_has_no_margin():
    urdf = ARM7.read_text().replace('effort="120"', 'effort="0"')
    robot = Robot.from_urdf(urdf, compile=False)
    found = figures(robot, MotionState(Q, np.zeros(7), np.zeros(7)), 'tool0')
    assert np.isnan(found.margin[:2]).all() and np.isfinite(found.margin[2:]).all()


def test_a_case_sets_gravity_payload_speed_and_acceleration(arm):
    """The case itself moves one joint, or all of them."""
    case = LoadCase(Q, 'tool0', 2.0, (0.0, 0.0, 0.1), (1.0, 0.0, -9.0), 'joint_3', -0.5, 2.0)
    robot, state = robot_of_case(arm, case), motion_of_case(arm, case)
    assert robot.payloads[LOAD].mass == 2.0 and robot.gravity.tolist() == [1.0, 0.0, -9.0]
    assert state.v.tolist() == [0, 0, -0.5 * 2.6, 0, 0, 0, 0]
    assert state.a.tolist() == [0, 0, 2.0, 0, 0, 0, 0]
    assert motion_of_case(arm, case._replace(moving=ALL_JOINTS)).a.tolist() == [2.0] * 7
    assert not robot_of_case(arm, case._replace(payload_mass=0.0)).payloads


def test_ellipsoids_have_the_radii_of_the_jacobian_and_the_mobility(arm):
    found = frame_ellipsoids(arm, Q, 'tool0')
    J = arm.jacobian(Q, 'tool0')[:3]
    axes, radii = found.velocity
    assert relative((axes * radii ** 2) @ axes.T, J @ J.T) < SOLVED
    assert relative(found.force[1], 1.0 / radii) < EXACT_MATHS
    axes, masses = found.inertia
    mobility = J @ arm.mass_matrix_inverse(Q) @ J.T
    assert relative((axes / masses) @ axes.T, mobility) < SOLVED


def test_an_arm_that_is_stretched_out_has_an_infinite_mass_along_itself(arm):
    _, masses = frame_ellipsoids(arm, np.zeros(7), 'tool0').inertia
    assert np.isinf(masses).sum() == 2   # along itself and along the axes of its bending joints
