"""Test inverse kinematics of mechanisms with loops: closed forms, limits, refusals."""

import numpy as np
import pytest
from support.bundled_mechanisms import standing
from support.rolling_car import RADIUS, placed, rolling_car

from dynamics_node import DynamicsError, Robot, Target
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.task_space.closed_newton_step import CLOSED
from dynamics_node.task_space.inverse_kinematics import limits_of

LEG = 0.6762358329   # [m] of stewart.urdf, where its slide is zero
TOLERANCE = 1e-9     # of the searches: their solutions are compared with closed forms
NEAR = 1e-7          # what is left of these in joint coordinates


@pytest.fixture(scope='module')
def robots():
    """{name: robot} of the bundled mechanisms."""
    return {name: Robot.from_urdf(bundled.urdf, loops=bundled.loops, compile=False)
            for name, bundled in MECHANISMS.items()}


def compiled(robot, *targets):
    """Return the robot with the kernels that searches for these targets use."""
    robot = Robot(robot.model)
    robot._dispatcher.compile(robot._task_space.keys(targets), wait=True)
    return robot


def gap(robot, q):
    """Return the greatest residual of the loops at q [m or rad]."""
    return np.abs(robot.constraint_rows(q, np.zeros(robot.nv)).residual).max()


def shoulder_angles(x, z):
    """Return the angles of both shoulders of five_bar.urdf with its tip at (x, z), elbows outside.

    From the law of cosines in the triangle shoulder, elbow, tip. A joint turns about -y, from x
    towards z; where it is zero its upper arm points to (-0.15, -0.2) or (0.15, -0.2).
    """
    upper, fore = 0.25, 0.4
    found = []
    for foot, side in ((-0.09, -1.0), (0.09, 1.0)):
        dx = x - foot
        reach = np.hypot(dx, z)
        corner = np.arccos((upper ** 2 + reach ** 2 - fore ** 2) / (2.0 * upper * reach))
        turned = np.arctan2(z, dx) + side * corner - np.arctan2(-0.2, side * 0.15)
        found.append((turned + np.pi) % (2.0 * np.pi) - np.pi)
    return found


@pytest.mark.parametrize('tip', [(0.0, -0.52), (0.1, -0.45), (-0.15, -0.5), (0.05, -0.58)])
def test_the_five_bar_has_the_shoulder_angles_of_two_triangles(robots, tip):
    """From the neutral configuration, without restarts."""
    robot = robots['five_bar']
    found = robot.inverse_kinematics(Target('tool', position=(tip[0], 0.0, tip[1])),
                                     tolerance=TOLERANCE, restarts=0)
    assert found.reason == 'solved'
    assert gap(robot, found.q) <= CLOSED
    assert np.abs(found.q[[0, 2]] - shoulder_angles(*tip)).max() < NEAR


def test_the_legs_of_a_stewart_platform_have_the_lengths_of_geometry(robots):
    """|R p + t - b| of each leg, for poses of the platform from the neutral configuration."""
    robot = robots['stewart']
    for seed in range(2):
        q, _, _ = standing(robot.model, robot.loops.constraints, seed)
        pose = robot.frame_pose(q, 'platform')
        found = robot.inverse_kinematics(Target.pose('platform', pose), tolerance=TOLERANCE,
                                         restarts=0)
        assert found.success and gap(robot, found.q) <= CLOSED
        for number, ball in enumerate(robot.loops.constraints, start=1):
            top = pose[:3, :3] @ ball.to_pose[:3] + pose[:3, 3]
            foot = robot.frame_pose(q, f'leg_{number}_cylinder')[:3, 3]
            slide = found.q[robot.model.joint(f'leg_{number}_slide').q][0]
            assert abs(slide - (np.linalg.norm(top - foot) - LEG)) < NEAR


@pytest.mark.parametrize('name', MECHANISMS)
def test_poses_that_mechanisms_have_are_found(robots, name):
    """Of the last link, from the neutral configuration; the loops are closed, limits kept."""
    robot = robots[name]
    q, _, _ = standing(robot.model, robot.loops.constraints, 5)
    frame = robot.frame_names[-1]
    found = robot.inverse_kinematics(Target.pose(frame, robot.frame_pose(q, frame)))
    assert found.reason == 'solved' and found.error.max() < 1e-6
    assert gap(robot, found.q) <= CLOSED
    lower, upper = np.split(limits_of(robot.model), 2)
    assert ((lower <= found.q) & (found.q <= upper)).all()
    assert np.abs(robot.frame_pose(found.q, frame) - robot.frame_pose(q, frame)).max() < 2e-6


def test_out_of_reach_the_nearest_point_is_returned(robots, kernels):
    """The five-bar stretched downwards: both arms are straight, in the closed form too."""
    target = Target('tool', position=(0.0, 0.0, -0.9))
    robot = compiled(robots['five_bar'], target)
    found = robot.inverse_kinematics(target, restarts=8)
    assert (found.success, found.reason) == (False, 'out of reach')
    assert gap(robot, found.q) <= CLOSED
    lowest = np.sqrt(0.65 ** 2 - 0.09 ** 2)
    assert np.isclose(found.error[0, 0], 0.9 - lowest, atol=1e-4)  # quadratic at the stretched arm


def test_limits_are_the_reason_where_they_prevent_a_solution(robots, kernels):
    """A shoulder that may not turn as far as the tip needs."""
    robot = robots['five_bar']
    text = MECHANISMS['five_bar'].urdf.read_text().replace(
        'lower="-1.2" upper="1.2"', 'lower="-0.2" upper="0.2"')
    target = Target('tool', position=(0.1, 0.0, -0.45))
    narrow = compiled(Robot.from_urdf(text, loops=robot.loops, compile=False), target)
    found = narrow.inverse_kinematics(target, restarts=8)
    assert (found.success, found.reason) == (False, 'limits')
    assert gap(narrow, found.q) <= CLOSED
    assert np.abs(found.q[[0, 2]]).max() <= 0.2


def test_loops_that_cannot_be_kept_are_refused_by_name(robots):
    """A contact without anchor, and a start that cannot be closed."""
    robot = robots['five_bar']
    target = Target('tool', position=(0.0, 0.0, -0.5))
    foot = {'name': 'foot', 'kind': 'point_contact', 'frame': 'tool'}
    with pytest.raises(DynamicsError, match='contacts foot of the loops have no to_pose'):
        robot.with_loops([*robot.loops.constraints, foot]).inverse_kinematics(target)
    apart = {'name': 'apart', 'kind': 'distance', 'frame': 'left_upper', 'distance': 3.0,
             'pose': (-0.15, 0.0, -0.2)}
    with pytest.raises(DynamicsError, match="'apart' by"):
        robot.with_loops([*robot.loops.constraints, apart]).inverse_kinematics(target)


@pytest.mark.parametrize('at', [(0.3, 0.2), (0.0, 0.2), (-0.4, 0.1)])
def test_a_wheel_that_rolls_may_be_anywhere(at):
    """Rolling restricts velocities: a car gets sideways by turning."""
    car = rolling_car()
    found = car.inverse_kinematics(Target.pose('car', placed(*at, RADIUS)), car.neutral())
    assert found.success, found.reason
    np.testing.assert_allclose(found.q[:3], [*at, 0.0], atol=1e-6)
