"""Test closed-form inverse kinematics: poses, all solutions, singular poses, limits."""

import numpy as np
import pytest
from support.six_axis_arms import INDUSTRIAL, STRUCTURES, TIP, UR, arm, differences, table

from dynamics_node import Robot, Target
from dynamics_node.example_robots import ARM7
from dynamics_node.task_space.closed_form import arm_of

POSES = 5         # of each structure; a script has tried 1000 of each, and of real arms
REACHED = 1e-9    # of positions [m] and rotation matrices
SINGULAR = 1e-6   # least singular value of the Jacobian
FOUND = 1e-6      # the pose of a configuration far from singular ones gives it back [rad]


def solved(robot, q, start=None, **options):
    """Return the InverseKinematics of the pose of q; every solution reaches it."""
    T = robot.frame_pose(q, TIP)
    found = robot.inverse_kinematics(Target.pose(TIP, T), start, **options)
    assert found.success and np.isfinite(found.solutions).all()
    for each in found.solutions:
        assert np.abs(robot.frame_pose(each, TIP) - T).max() < REACHED
    assert (found.q == found.solutions[0]).all()
    return found


@pytest.mark.parametrize('structure', STRUCTURES)
def test_the_solutions_of_a_random_arm_reach_the_pose_and_include_its_own(structure):
    """They differ from each other, and are even in number: each is one of a pair."""
    for seed in range(POSES):
        rng = np.random.default_rng(seed)
        robot, q = arm(table(structure, rng)), rng.uniform(-np.pi, np.pi, 6)
        found = solved(robot, q)
        assert found.complete and found.iterations == 1
        assert differences(found.solutions, q).min() < FOUND
        assert len(found.solutions) in (2, 4, 6, 8)
        apart = differences(found.solutions[:, None], found.solutions)
        assert (apart + 9.0 * np.eye(len(apart))).min() > FOUND


@pytest.mark.parametrize('structure', ['wrist', 'parallel 2 3 4', 'spherical shoulder'])
def test_the_iteration_finds_no_other_solution(structure):
    """From starts between the solutions: each that it finds is in the list."""
    rng = np.random.default_rng(12)
    robot, q = arm(table(structure, rng)), rng.uniform(-np.pi, np.pi, 6)
    every = solved(robot, q).solutions
    target, hit = Target.pose(TIP, robot.frame_pose(q, TIP)), set()
    for near in [*every, *every]:
        one = robot.inverse_kinematics(target, near + rng.uniform(-0.5, 0.5, 6), 1e-10, restarts=0)
        assert not one.complete
        if one.success:
            apart = differences(every, one.q)
            assert apart.min() < FOUND
            hit.add(int(np.argmin(apart)))
    assert len(hit) >= 2


@pytest.mark.parametrize('rows', [INDUSTRIAL, UR], ids=['industrial', 'ur'])
def test_an_arm_as_built_has_eight_solutions(rows):
    """In the middle of its reach, sorted by their distance from the start."""
    robot, q = arm(rows), np.array([0.3, -1.0, 1.2, -0.7, 0.9, 0.4])
    start = np.array([0.2, 0.1, -0.4, 0.3, 0.5, -0.2])
    found = solved(robot, q, start)
    assert len(found.solutions) == 8
    assert (np.diff(np.abs(found.solutions - start).sum(axis=1)) >= 0.0).all()
    assert solved(robot, q, q).q == pytest.approx(q, abs=FOUND)


@pytest.mark.parametrize('rows, q, kept', [
    (INDUSTRIAL, (0.3, -1.0, 1.2, 0.6, 0.0, 0.4), 3),              # axes 4 and 6 coincide
    (INDUSTRIAL, (0.3, -1.0, 1.2, 0.6, np.pi, 0.4), 3),
    (INDUSTRIAL, (0.5, -np.pi / 2, -np.pi / 2, 0.4, 0.8, 0.2), 0),  # the wrist is above axis 1
    (UR, (0.3, -1.0, 1.2, -0.7, 0.0, 0.4), 5),                     # axis 6 parallel to 2, 3, 4
], ids=['wrist', 'wrist turned', 'shoulder', 'ur wrist'])
def test_at_a_singular_pose_the_free_angle_is_that_of_the_start(rows, q, kept):
    """There are infinitely many solutions; those with this angle are returned, and regular ones."""
    robot, start = arm(rows), np.array([0.2, 0.1, -0.4, 0.3, 0.5, -0.2])
    found = solved(robot, np.array(q), start)
    singular = [np.linalg.svd(robot.jacobian(each, TIP))[1][-1] < SINGULAR
                for each in found.solutions]
    assert found.complete and any(singular)
    assert found.solutions[singular, kept] == pytest.approx(start[kept], abs=FOUND)


@pytest.mark.parametrize('rows, q', [
    (INDUSTRIAL, (0.3, -1.0, np.pi / 2, 0.6, 0.7, 0.4)), (UR, (0.3, -1.0, 0.0, -0.7, 0.9, 0.4)),
    (UR, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))], ids=['industrial', 'ur', 'ur all zero'])
def test_a_stretched_arm_is_solved(rows, q):
    """Where two solutions coincide."""
    robot, q = arm(rows), np.array(q)
    found = solved(robot, q, np.full(6, 0.1))
    assert found.complete and len(found.solutions) <= 8


def test_the_turn_nearest_to_the_start_is_chosen_within_the_limits():
    """Of joints that turn more than once; solutions beyond the limits are left out."""
    q = np.array([0.3, -1.0, 1.2, -0.7, 0.9, 0.4])
    start = q + 2.0 * np.pi * np.array([1, 0, 0, -1, 0, 1])
    wide = arm(UR, 'revolute', lower=-7.0, upper=7.0)
    assert solved(wide, q, start).q == pytest.approx(start, abs=FOUND)
    narrow = arm(UR, 'revolute', lower=-2.0, upper=2.0)
    found = solved(narrow, q, np.zeros(6))
    assert 0 < len(found.solutions) < 8 and np.abs(found.solutions).max() <= 2.0
    assert differences(found.solutions, q).min() < FOUND


def test_a_solution_at_a_limit_is_kept():
    """Rounding does not push it out, and it does not exceed the limit."""
    q = np.array([0.3, -1.0, 1.2, -0.7, 0.9, 0.4])
    for k in range(6):
        robot = arm(UR, 'revolute', lower=-1.2 if k != 1 else -1.0, upper=q[k] if k != 1 else 1.2)
        found = solved(robot, np.minimum(q, q[k] if k != 1 else 1.2), np.zeros(6))
        assert all((joint.lower <= found.solutions[:, joint.q]).all()
                   and (found.solutions[:, joint.q] <= joint.upper).all()
                   for joint in robot.model.joints)


def test_a_pose_out_of_reach_is_approached_by_the_iteration():
    """The closed form has no solution; the closest configuration and the reason are returned."""
    robot = arm(UR)
    T = robot.frame_pose(np.zeros(6), TIP)
    T[:3, 3] *= 3.0
    found = robot.inverse_kinematics(Target.pose(TIP, T), restarts=8)
    assert not found.success and found.reason == 'out of reach'
    assert not found.complete and found.solutions.shape == (0, 6)
    T[:3, 3] = 1e29
    assert not robot.inverse_kinematics(Target(TIP, T[:3, 3], T[:3, :3]), restarts=1).success


def test_axes_of_four_digits_are_recognised():
    """Angles such as 1.571: Newton's method removes the rest of the error."""
    rows = UR.copy()
    rows[1] = np.round(rows[1], 4)
    rows[1, 1] = 3e-5
    robot, q = arm(rows), np.array([0.3, -1.0, 1.2, -0.7, 0.9, 0.4])
    target = Target.pose(TIP, robot.frame_pose(q, TIP))
    found = robot.inverse_kinematics(target)
    assert found.complete and len(found.solutions) == 8 and found.iterations > 1
    assert differences(found.solutions, q).min() < 1e-5


@pytest.mark.parametrize('rows, offset', [(INDUSTRIAL, (0, 4)), (UR, (1, 2))],
                         ids=['wrist', 'parallel axes'])
def test_another_structure_is_left_to_the_iteration(rows, offset):
    """A wrist whose axes miss each other by 1 cm, axes that are 0.01 rad from parallel."""
    rows = rows.copy()
    rows[offset] = 0.01
    robot = arm(rows)
    assert arm_of(robot.model, TIP) is None
    q = np.array([0.3, -1.0, 1.2, -0.7, 0.9, 0.4])
    found = robot.inverse_kinematics(Target.pose(TIP, robot.frame_pose(q, TIP)), q + 0.05)
    assert found.success and not found.complete and found.solutions.tolist() == [found.q.tolist()]


def test_only_chains_of_six_revolute_joints_have_a_closed_form():
    """Seven joints, five, and other targets than a pose do not."""
    seven = Robot.from_urdf(ARM7, compile=False)
    assert arm_of(seven.model, 'tool0') is None
    robot = arm(UR)
    assert arm_of(robot.model, 'l4') is None and arm_of(robot.model, 'base') is None
    q = np.array([0.3, -1.0, 1.2, -0.7, 0.9, 0.4])
    position = Target(TIP, robot.frame_pose(q, TIP)[:3, 3])
    assert not robot.inverse_kinematics(position, q + 0.05).complete


def test_a_coaxial_shoulder_has_no_closed_form():
    """Two joints about one axis: five degrees of freedom."""
    rows = INDUSTRIAL.copy()
    rows[0, 0] = rows[1, 0] = 0.0
    assert arm_of(arm(rows).model, TIP) is None
