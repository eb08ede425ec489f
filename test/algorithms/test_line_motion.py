"""Test lengths and moment arms of linear actuators."""

import numpy as np
import pytest
from support.differences import gradient, relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES, SOLVED

from dynamics_node import Actuator, Robot, RobotLink
from dynamics_node.errors import DynamicsError

CYLINDER = Actuator('cylinder', 'l10', 'l5', (0.3, 0.1, 0.2), (0.1, -0.2, 0.4))


def test_moment_arms_are_the_gradient_of_the_length(tree):
    """And give its rate; joints that carry both ends have none."""
    robot, q, v = tree.robot, tree.q, tree.v
    found = robot.actuator_motion(q, v, [CYLINDER])
    slope = gradient(robot, lambda x: robot.actuator_motion(x, v, [CYLINDER]).length, q)
    assert relative(found.moment_arms, slope) < RATE_BY_DIFFERENCES
    assert relative(found.rate, found.moment_arms @ v) < EXACT_MATHS


def test_the_torques_of_a_force_are_those_of_wrenches_at_both_ends(tree):
    """The force pushes both ends apart (eq. 3.52)."""
    robot, q, v = tree.robot, tree.q, tree.v
    arms = robot.actuator_motion(q, v, [CYLINDER]).moment_arms
    places = [robot.frame_pose(q, name) for name in ('l5', 'l10')]
    ends = [T[:3, :3] @ np.array(p) + T[:3, 3]
            for T, p in zip(places, (CYLINDER.to_point, CYLINDER.point))]
    n = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    wrenches = {}
    for name, T, p, sign in (('l5', places[0], CYLINDER.to_point, -1.0),
                             ('l10', places[1], CYLINDER.point, 1.0)):
        force = T[:3, :3].T @ (sign * 70.0 * n)
        wrenches[name] = [*force, *np.cross(p, force)]
    exerted = robot.inverse_dynamics(q, v, v) - robot.inverse_dynamics(q, v, v, wrenches)
    assert relative(arms[0] * 70.0, exerted) < EXACT_MATHS


@pytest.fixture
def boom():
    """A boom on a pivot at the origin, lifted by a cylinder from the ground; and a stick."""
    place = np.eye(4)
    place[0, 3] = 2.0
    return Robot.from_links([
        RobotLink('base'), RobotLink('boom', 'base', 'revolute', axis=(0, -1, 0), mass=100.0,
                                     com=(1, 0, 0), inertia=np.eye(3)),
        RobotLink('stick', 'boom', 'revolute', place, (0, -1, 0), mass=50.0, inertia=np.eye(3))],
        compile=False)


LIFT = Actuator('lift', 'boom', point=(1.2, 0, 0), to_point=(0.5, 0, -0.8))
CURL = Actuator('curl', 'stick', 'boom', point=(-0.3, 0, 0.1), to_point=(0.8, 0, 0.3))


def test_length_and_arm_follow_from_the_law_of_cosines(boom):
    """The triangle of pivot, foot and lug: L^2 = a^2 + b^2 - 2 a b cos, arm = a b sin / L."""
    angle = 0.6
    a, b = np.hypot(0.5, 0.8), 1.2
    opening = angle + np.arctan2(0.8, 0.5)  # between the foot and the boom
    length = np.sqrt(a * a + b * b - 2 * a * b * np.cos(opening))
    found = boom.actuator_motion([angle, 0.3], [1.0, 0.0], [LIFT])
    arm = a * b * np.sin(opening) / length
    assert relative(found.length, [length]) < EXACT_MATHS
    assert relative(found.moment_arms, [[arm, 0.0]]) < EXACT_MATHS
    assert relative(found.rate, [arm]) < EXACT_MATHS


def test_forces_of_actuators_exert_the_torques(boom):
    """For a batch; there and back."""
    q = np.random.default_rng(0).uniform(-0.3, 0.9, (4, 2))
    tau = boom.gravity_torque(q)
    force = boom.actuator_forces(q, tau, [LIFT, CURL])
    arms = boom.actuator_motion(q, np.zeros(2), [LIFT, CURL]).moment_arms
    assert relative(np.einsum('nka,nk->na', arms, force), tau) < SOLVED


def test_torques_of_a_joint_without_actuator_are_refused(boom):
    """The message names it."""
    with pytest.raises(DynamicsError, match="of the torque of 'stick_joint'; expected torques"):
        boom.actuator_forces([0.3, 0.2], [100.0, 5.0], [LIFT])
    assert boom.actuator_forces([0.3, 0.2], [100.0, 0.0], [LIFT])[0] > 0.0
