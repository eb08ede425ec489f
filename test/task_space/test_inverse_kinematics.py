"""Test numerical inverse kinematics: closed forms, limits, verdicts, floating bases, mimics."""

import numpy as np
import pytest
from support import random_trees
from support.planar_arms import elbow_angles, planar_arm

from dynamics_node import Target
from dynamics_node.algorithms.kinematics import frame_pose
from dynamics_node.spatial import so3
from dynamics_node.task_space.inverse_kinematics import REASONS

WITHIN = 1e-6  # the tolerance that is asked for
# Where the closest configuration lies in a flat valley, the cost is at its least to 1e-6 of
# itself, hence the error to half of that, and the angles to its root.
CLOSEST, ANGLES = 1e-6, 2e-3


def is_within(robot, q):
    return all((joint.lower <= q[joint.q]).all() and (q[joint.q] <= joint.upper).all()
               for joint in robot.model.joints if joint.kind != 'floating')


def test_two_links_bend_by_the_cosine_rule():
    """From the side of either solution to that solution."""
    arm = planar_arm()
    rng = np.random.default_rng(0)
    for x, y in rng.uniform(-1.2, 1.2, (8, 2)):
        for want in elbow_angles(x, y):
            if not is_within(arm, want):
                continue
            found = arm.inverse_kinematics(Target('tip', (x, y, 0.0)), want + 0.1, restarts=0)
            assert found.success and found.reason == 'solved' and found.restarts == 0
            assert np.abs(found.q - want).max() < 10.0 * WITHIN


def test_an_unreachable_target_is_approached_as_closely_as_possible():
    """A stretched arm of two metres that points there, and the reason."""
    arm = planar_arm()
    for angle in (0.3, -2.0):
        x, y = 3.0 * np.cos(angle), 3.0 * np.sin(angle)
        found = arm.inverse_kinematics(Target('tip', (x, y, 0.0)), restarts=8)
        assert not found.success and found.reason == 'out of reach'
        assert found.error[0, 0] == pytest.approx(1.0, rel=CLOSEST)
        assert found.q == pytest.approx([angle, 0.0], abs=ANGLES)


def test_a_direction_that_no_joint_has_is_out_of_reach():
    """Half a metre above the plane of the arm."""
    found = planar_arm().inverse_kinematics(Target('tip', (1.0, 1.0, 0.5)))
    assert not found.success and found.reason == 'out of reach'
    assert found.error[0, 0] == pytest.approx(0.5, rel=CLOSEST)


def test_limits_that_prevent_a_solution_are_the_reason():
    """An elbow that bends by at most 0.5 does not bring the tip to the base."""
    arm = planar_arm(2, -0.5, 0.5)
    found = arm.inverse_kinematics(Target('tip', (0.9, 0.0, 0.0)))
    assert not found.success and found.reason == 'limits' and is_within(arm, found.q)
    # the nearest point of the region |q| <= 0.5 has the elbow at a limit; by scanning
    scan = [np.linalg.norm(frame_pose(arm.model, np.array([a, b]), 'tip')[:3, 3] - (0.9, 0.0, 0.0))
            for a in np.linspace(-0.5, 0.5, 101) for b in (-0.5, 0.5)]
    assert found.error[0, 0] == pytest.approx(min(scan), abs=1e-4)


def test_a_singular_start_without_restarts_is_reported():
    """A stretched arm has no gradient to a point on its line, which is reachable."""
    arm = planar_arm()
    target = Target('tip', (1.5, 0.0, 0.0))
    found = arm.inverse_kinematics(target, np.zeros(2), restarts=0)
    assert not found.success and found.reason == 'singular'
    assert found.error[0, 0] == pytest.approx(0.5, rel=CLOSEST)
    assert arm.inverse_kinematics(target, np.zeros(2)).success


def test_a_target_at_full_stretch_is_reached():
    """There the Jacobian is singular, and the error is quadratic."""
    found = planar_arm().inverse_kinematics(Target('tip', (2.0, 0.0, 0.0)), (0.4, 0.9))
    assert found.success and found.error[0, 0] < WITHIN


def test_limits_are_kept_for_every_target():
    """Random targets, in reach or not, from starts beyond the limits."""
    arm = planar_arm(3, -0.7, 1.1)
    rng = np.random.default_rng(1)
    reasons = set()
    for x, y in rng.uniform(-3.0, 3.0, (10, 2)):
        found = arm.inverse_kinematics(Target('tip', (x, y, 0.0)), rng.uniform(-3, 3, 3),
                                       restarts=8)
        assert is_within(arm, found.q)
        at = arm.frame_pose(found.q, 'tip')[:3, 3]
        assert np.linalg.norm(at - (x, y, 0.0)) == pytest.approx(found.error[0, 0], abs=1e-12)
        assert found.success == (found.error[0, 0] <= WITHIN) == (found.reason == 'solved')
        assert found.reason in REASONS
        reasons.add(found.reason)
    assert {'solved', 'limits', 'out of reach'} <= reasons


def test_the_same_request_gives_the_same_result():
    """To the bit, restarts included; another seed may find another."""
    arm = planar_arm(3)
    target, start = Target('tip', (-0.5, 0.2, 0.0)), np.zeros(3)
    one, two = (arm.inverse_kinematics(target, start) for _ in range(2))
    assert one.success and (one.q == two.q).all() and (one.error == two.error).all()
    assert one[3:6] == two[3:6] and (one.solutions == two.solutions).all()
    assert arm.inverse_kinematics(target, start, seed=7).success


@pytest.mark.parametrize('tree', random_trees.TREES, ids=str)
def test_joints_of_every_kind_move_frames_to_known_poses(tree):
    """Three frames of trees with floating, planar and mimic joints, from a nearby state."""
    robot, rng, q, *_ = random_trees.make(tree)
    frames = [name for name in robot.frame_names if name != 'base'][-3:]
    targets = [Target.pose(frames[0], robot.frame_pose(q, frames[0])),
               Target(frames[1], robot.frame_pose(q, frames[1])[:3, 3]),
               Target(frames[2], orientation=robot.frame_pose(q, frames[2])[:3, :3])]
    start = robot.integrate(q, 0.05 * rng.normal(size=robot.nv))
    found = robot.inverse_kinematics(targets, start, restarts=0)
    assert found.success and is_within(robot, found.q), found
    for target, error in zip(targets, found.error):
        X, want = (robot.frame_pose(at, target.frame) for at in (found.q, q))
        if target.position is not None:
            assert np.linalg.norm(X[:3, 3] - want[:3, 3]) <= WITHIN
        if target.orientation is not None:
            assert np.linalg.norm(so3.log(X[:3, :3].T @ want[:3, :3])) <= 1.001 * WITHIN
        assert error.max() <= WITHIN
