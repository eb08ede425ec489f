"""Test compiled inverse kinematics: the steps of NumPy, and solutions for real arms."""

import numpy as np
import pytest
from support import random_trees, six_axis_arms
from support.agreement_of_paths import without_numpy
from support.differences import relative
from support.real_robots import ROBOTS

from dynamics_node import Robot, Target
from dynamics_node.kernels.build import AGREEMENT
from dynamics_node.kernels.keys import key_of
from dynamics_node.spatial import so3
from dynamics_node.task_space.closed_form import arm_of, arm_solution, branches
from dynamics_node.task_space.inverse_kinematics import CAUTION, goal_of, limits_of
from dynamics_node.task_space.newton_step import newton_step
from dynamics_node.task_space.target import parts_of

TOLERANCE = 1e-6
TIPS = {'panda': 'panda_hand', 'ur5': 'tool0', 'kinova': 'j2s6s200_end_effector'}
POSES = 200


def example(name):
    return next(robot for robot in ROBOTS if str(robot) == name)


def ready(robot, targets, *keys):
    """Compile the kernels of some targets; the first call binds them."""
    robot._dispatcher.compile([*robot._task_space.keys(targets), *keys], wait=True)
    robot.inverse_kinematics(targets, restarts=0)


def all_kinds(robot, frames, q):
    """Return targets of every kind at configuration q."""
    X = [robot.frame_pose(q, frame) for frame in frames]
    return [Target.pose(frames[0], X[0]), Target(frames[1], X[1][:3, 3], position_weight=0.5),
            Target(frames[2], axis=(0.0, 0.6, 0.8), direction=X[2][:3, :3] @ (0.0, 0.6, 0.8))]


@pytest.mark.parametrize('tree', random_trees.TREES[:4], ids=str)
def test_kernels_take_the_steps_of_numpy(tree):
    """Every kind of target and joint, single and batch: q, the errors, cost and slope."""
    robot, rng, q, *_ = random_trees.make(tree)
    frames = [name for name in robot.frame_names if name != 'base'][-3:]
    targets = all_kinds(robot, frames, q)
    frame = (parts_of(targets),)
    ready(robot, targets)
    goal, limits = goal_of(targets, (TOLERANCE, TOLERANCE)), limits_of(robot.model)
    rows = np.array([robot.integrate(q, 0.5 * rng.normal(size=robot.nv)) for _ in range(11)])
    rows = np.array([np.clip(row, limits[:robot.nq], limits[robot.nq:]) for row in rows])
    many = [rows, *(np.tile(part, (11, 1)) for part in (goal, limits, [CAUTION]))]
    with without_numpy(robot):
        batch = robot._task_space.newton_step(targets)(*many)
        singles = [robot._task_space.newton_step(targets)(*row) for row in zip(*many)]
    for k, single in enumerate(singles):
        want = newton_step(robot.model, *(part[k] for part in many), *frame)
        for name in want._fields:
            one, other, exact = (getattr(step, name) for step in (single, want, batch))
            assert (one == exact[k]).all()  # the company of a state does not matter
            assert relative(one, other) < AGREEMENT, name


@pytest.mark.parametrize('name', TIPS)
def test_reachable_poses_are_solved_from_random_starts(name):
    """Random ones within the limits, to 1e-6 and within the limits; kernels only.

    The bar is 99.5 %; benchmark/inverse_kinematics.py tries 1000 of each.
    """
    robot, frame = Robot.from_urdf(example(name).urdf), TIPS[name]
    rng, solved = np.random.default_rng(8), 0
    ready(robot, [Target.pose(frame, np.eye(4))], key_of(robot.model, 'frame_pose', (frame,)))
    with without_numpy(robot):
        for _ in range(POSES):
            X = robot.frame_pose(robot.random_configuration(rng), frame)
            found = robot.inverse_kinematics(Target.pose(frame, X), robot.random_configuration(rng))
            at = robot.frame_pose(found.q, frame)
            reached = (np.linalg.norm(at[:3, 3] - X[:3, 3]) <= TOLERANCE
                       and np.linalg.norm(so3.log(at[:3, :3].T @ X[:3, :3])) <= 1.001 * TOLERANCE)
            assert found.success == reached
            assert all((joint.lower <= found.q[joint.q]).all()
                       and (found.q[joint.q] <= joint.upper).all() for joint in robot.model.joints)
            solved += found.success
            assert found.complete == (name != 'panda')  # the others have a closed form
    assert solved >= 0.995 * POSES


@pytest.mark.parametrize('structure', ['wrist, shoulder axes meet', 'parallel 2 3 4'])
def test_kernels_give_the_closed_form_of_numpy(structure):
    """Every solution, at a random pose, with pairs of angles and with the roots of a quadratic."""
    rng = np.random.default_rng(2)
    robot = Robot(six_axis_arms.arm(six_axis_arms.table(structure, rng)).model)
    q, start = rng.uniform(-np.pi, np.pi, (2, 6))
    target = Target.pose(six_axis_arms.TIP, robot.frame_pose(q, six_axis_arms.TIP))
    parts, goal = parts_of([target]), goal_of([target], (TOLERANCE, TOLERANCE))
    ready(robot, [target])
    rows = branches(arm_of(robot.model, six_axis_arms.TIP), start, goal)
    assert len(rows) >= 2
    with without_numpy(robot):
        found = robot._dispatcher.positional('arm_solution', (parts,))(
            np.tile(start, (len(rows), 1)), np.tile(goal, (len(rows), 1)), rows)
    want = [arm_solution(robot.model, start, goal, row, parts) for row in rows]
    assert relative(found, np.array(want)) < AGREEMENT


def test_a_quadruped_shifts_its_base_over_fixed_feet():
    """Five frames of a floating base: 18 rows, 18 velocities."""
    robot = Robot.from_urdf(example('solo12').urdf, base='floating')
    q = robot.neutral()
    q[7:] = np.tile([0.1, 0.8, -1.6], 4) * np.repeat([1.0, 1.0, -1.0, -1.0], 3)
    feet = [f'{leg}_FOOT' for leg in ('FL', 'FR', 'HL', 'HR')]
    X = robot.frame_pose(q, 'base_link')
    X[:3, 3] += (0.02, 0.03, -0.03)
    X[:3, :3] = X[:3, :3] @ so3.exp((0.1, -0.1, 0.2))
    targets = [Target.pose('base_link', X),
               *(Target(foot, robot.frame_pose(q, foot)[:3, 3]) for foot in feet)]
    ready(robot, targets)
    found = robot.inverse_kinematics(targets, q, restarts=0)
    assert found.success and found.error.shape == (5, 2) and found.iterations < 10
    for foot in feet:
        moved = robot.frame_pose(found.q, foot) - robot.frame_pose(q, foot)
        assert np.abs(moved[:3, 3]).max() < TOLERANCE
    too_low = X.copy()
    too_low[2, 3] -= 1.0
    closest = robot.inverse_kinematics([Target.pose('base_link', too_low), *targets[1:]], q)
    assert not closest.success and closest.reason in ('limits', 'out of reach')
