"""Test differential kinematics: pseudo-inverses, priorities, tracking, contacts."""

import numpy as np
import pytest
from support.differences import relative
from support.kinematic_inverses import null_space, pseudo_inverse, weighted_inverse
from support.planar_arms import planar_arm
from support.real_robots import ROBOTS

from dynamics_node import Constraint, DynamicsError, FrameMotion, Robot, Target, Tracking
from dynamics_node.example_robots import ARM7
from dynamics_node.spatial import so3
from dynamics_node.task_space.differential_kinematics import joint_velocities
from dynamics_node.task_space.motion import motion_rows

EXACT = 1e-11     # the same by another decomposition
PRIORITY = 1e-9   # what a lower task may change of a higher one
N = 7


@pytest.fixture(scope='module')
def arm7():
    return Robot.from_urdf(ARM7)


def of_rank(rng, m, r, n=N):
    return rng.normal(size=(m, r)) @ rng.normal(size=(r, n))


@pytest.mark.parametrize(('m', 'r'), [(3, 3), (6, 6), (6, 4), (9, 7), (9, 5), (4, 0)])
def test_the_pseudo_inverse_is_moore_and_penroses(m, r):
    """Their four equations, of any rank; the null space is what is left."""
    J = of_rank(np.random.default_rng(m), m, r)
    P, norm = pseudo_inverse(J), max(1.0, np.linalg.norm(J))
    for got, want in ((J @ P @ J, J), (P @ J @ P, P), (J @ P, (J @ P).T), (P @ J, (P @ J).T)):
        assert np.abs(got - want).max(initial=0.0) < EXACT * norm
    N_J = null_space(J)
    assert np.abs(J @ N_J).max() < EXACT * norm
    assert np.trace(N_J) == pytest.approx(N - r)


def test_the_damped_inverse_is_that_of_equation_2_195():
    """J' (J J' + damping^2)^-1, and bounded where J is singular."""
    rng = np.random.default_rng(0)
    J, w = of_rank(rng, 6, 6), rng.normal(size=6)
    want = J.T @ np.linalg.solve(J @ J.T + 0.01 * np.eye(6), np.eye(6))
    assert relative(pseudo_inverse(J, 0.1), want) < EXACT
    singular = of_rank(rng, 6, 3) + 1e-7 * rng.normal(size=(6, N))
    assert np.linalg.norm(pseudo_inverse(singular, 0.1) @ w) <= np.linalg.norm(w) / 0.2


def test_the_weighted_inverse_is_that_of_equation_2_202():
    """(J' W J)^-1 J' W of a tall J; of a wide one W^-1 J' (J W^-1 J')^-1."""
    rng = np.random.default_rng(1)
    tall, wide, W = rng.normal(size=(9, N)), rng.normal(size=(4, N)), rng.uniform(0.1, 5.0, 9)
    want = np.linalg.solve(tall.T @ (W[:, None] * tall), tall.T * W)
    assert relative(weighted_inverse(tall, W), want) < EXACT
    V = W[:N]
    want = (wide / V).T @ np.linalg.inv(wide / V @ wide.T)
    assert relative(weighted_inverse(wide, joint_weights=V), want) < EXACT


def random_levels(rng):
    """Return three or four levels of one or two tasks, of any rank, some repeating others."""
    levels = []
    for _ in range(rng.integers(3, 5)):
        level = []
        for _ in range(rng.integers(1, 3)):
            m = rng.integers(1, 5)
            J = of_rank(rng, m, rng.integers(1, m + 1))
            if levels and rng.random() < 0.3:  # a direction that a higher task has too
                J[0] = levels[0][0][0][0]
            level.append((J, rng.normal(size=m), rng.uniform(0.2, 3.0, m)))
        levels.append(level)
    return levels


@pytest.mark.parametrize('damping', [0.0, 0.1])
@pytest.mark.parametrize('seed', range(25))
def test_a_lower_task_never_changes_a_higher_one(seed, damping):
    """Random stacks, rank-deficient ones included: J v of a level is the same without those below.

    The preferred velocity is the lowest of all.
    """
    rng = np.random.default_rng(seed)
    levels, preferred = random_levels(rng), 10.0 * rng.normal(size=N)
    weights = rng.uniform(0.2, 3.0, N)
    whole = joint_velocities(levels, N, weights, preferred, damping)
    for k in range(1, len(levels) + 1):
        alone = joint_velocities(levels[:k], N, weights, damping=damping)
        for J, _, _ in levels[k - 1]:
            assert np.abs(J @ (whole - alone)).max() < PRIORITY * max(1.0, np.abs(whole).max())


def test_two_levels_are_equation_2_206():
    """The second task has what the first leaves: N1 (J2 N1)^+ (w2 - J2 J1^+ w1)."""
    rng = np.random.default_rng(2)
    (J1, w1), (J2, w2) = ((rng.normal(size=(3, N)), rng.normal(size=3)) for _ in range(2))
    N1 = np.eye(N) - np.linalg.pinv(J1) @ J1
    v1 = np.linalg.pinv(J1) @ w1
    want = v1 + N1 @ np.linalg.pinv(J2 @ N1, rcond=1e-10) @ (w2 - J2 @ v1)
    got = joint_velocities([[(J1, w1, np.ones(3))], [(J2, w2, np.ones(3))]], N)
    assert relative(got, want) < EXACT


def test_a_frame_gets_the_wanted_velocity(arm7):
    """Pseudo-inverse, with a motion in the null space (eq. 2.197), and with weights of joints."""
    rng = np.random.default_rng(3)
    q, twist, preferred = arm7.random_configuration(rng), rng.normal(size=6), rng.normal(size=N)
    task = FrameMotion('tool0', twist[:3], twist[3:])
    J = arm7.jacobian(q, 'tool0')
    shortest = np.linalg.pinv(J) @ twist
    assert relative(arm7.joint_velocities(q, task), shortest) < EXACT
    moved = arm7.joint_velocities(q, task, preferred=preferred)
    assert relative(moved, shortest + (np.eye(N) - np.linalg.pinv(J) @ J) @ preferred) < EXACT
    assert relative(arm7.frame_twist(q, moved, 'tool0'), twist) < EXACT
    V = rng.uniform(0.1, 10.0, N)
    assert relative(arm7.joint_velocities(q, task, weights=V),
                    weighted_inverse(J, joint_weights=V) @ twist) < EXACT
    assert relative(arm7.joint_velocities(q, task, damping=0.1),
                    pseudo_inverse(J, 0.1) @ twist) < EXACT


def test_weights_act_within_a_level_alone(arm7):
    """Two frames with incompatible velocities."""
    q = arm7.random_configuration(np.random.default_rng(4))
    one = FrameMotion('tool0', (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), weight=4.0)
    two = FrameMotion('link_4', (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    J = np.vstack([arm7.jacobian(q, 'tool0'), arm7.jacobian(q, 'link_4')])
    w, W = np.array([1.0, *np.zeros(5), 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]), np.repeat([4.0, 1.0], 6)
    assert relative(arm7.joint_velocities(q, [one, two]), weighted_inverse(J, W) @ w) < EXACT
    strict = arm7.joint_velocities(q, [[one], [two]])
    assert relative(arm7.frame_twist(q, strict, 'tool0'), w[:6]) < PRIORITY


@pytest.mark.parametrize('gain', [2.0, 5.0])
def test_a_moving_target_is_followed(arm7, gain):
    """The error decays as exp(-gain t) while the target moves (eq. 2.241, 2.242)."""
    dt, steps = 1e-3, 400
    rng = np.random.default_rng(5)
    q = np.array([0.3, 0.6, -0.2, 1.2, 0.3, 0.7, 0.1])
    X = arm7.frame_pose(q, 'tool0')
    p, R = X[:3, 3] + (0.05, -0.04, 0.03), X[:3, :3] @ so3.exp(0.3 * rng.normal(size=3))
    velocity, spin = np.array([0.05, 0.0, -0.05]), np.array([0.1, -0.1, 0.2])
    first = np.linalg.norm(p - X[:3, 3]), np.linalg.norm(so3.log(X[:3, :3].T @ R))
    for _ in range(steps):
        task = Tracking(Target('tool0', p, R), velocity, spin, gain, gain)
        q = arm7.integrate(q, arm7.joint_velocities(q, task), dt)
        p, R = p + velocity * dt, so3.exp(spin * dt) @ R
    X = arm7.frame_pose(q, 'tool0')
    left = np.linalg.norm(p - X[:3, 3]), np.linalg.norm(so3.log(X[:3, :3].T @ R))
    for now, before in zip(left, first):  # 4e-3: steps of 1 ms instead of a differential equation
        assert now / before == pytest.approx(np.exp(-gain * dt * steps), rel=0.01, abs=4e-3)


def test_an_axis_is_tracked_with_two_rows():
    """In a plane the axis of the tip turns as commanded, free about itself."""
    arm = planar_arm(3)
    q = np.array([0.2, 0.5, 0.1])
    task = Tracking(Target('tip', axis=(1.0, 0.0, 0.0), direction=(0.0, 1.0, 0.0)),
                    rotation_gain=2.0)
    J, w, weights = motion_rows(arm.model, q, task)
    assert J.shape == (2, 3) and weights.shape == (2,)
    v = arm.joint_velocities(q, task)
    assert v.sum() == pytest.approx(2.0 * (np.pi / 2 - q.sum()))


def test_feet_stand_still_while_the_base_moves(quadruped):
    """Equation 2.261: contacts first; the feet allow all six motions of the base."""
    robot, q, feet = quadruped
    task = FrameMotion('base_link', (0.1, 0.05, -0.1), (0.2, -0.1, 0.3))
    v = robot.joint_velocities(q, task, contacts=feet)
    assert np.abs(robot.frame_twist(q, v, 'base_link')
                  - (0.1, 0.05, -0.1, 0.2, -0.1, 0.3)).max() < PRIORITY
    A = robot.constraint_rows(q, v, feet).A
    J = robot.jacobian(q, 'base_link')
    N_c = np.eye(robot.nv) - np.linalg.pinv(A) @ A
    want = N_c @ np.linalg.pinv(J @ N_c, rcond=1e-10) @ (0.1, 0.05, -0.1, 0.2, -0.1, 0.3)
    assert relative(v, want) < PRIORITY
    for leg in ('FL', 'FR', 'HL', 'HR'):
        assert np.abs(robot.frame_twist(q, v, f'{leg}_FOOT')[:3]).max() < PRIORITY


def test_two_feet_do_not_turn_the_base_about_their_line(quadruped):
    """Figure 2.16 b: underactuated; the feet are at rest, the base does not follow."""
    robot, q, feet = quadruped
    p, r = (robot.frame_pose(q, f'{leg}_FOOT')[:3, 3] for leg in ('FL', 'HR'))
    line = (r - p) / np.linalg.norm(r - p)
    v = robot.joint_velocities(q, FrameMotion('base_link', angular=line), contacts=[feet[0],
                                                                                   feet[3]])
    for leg in ('FL', 'HR'):
        assert np.abs(robot.frame_twist(q, v, f'{leg}_FOOT')[:3]).max() < PRIORITY
    J_b = robot.constraint_rows(q, v, [feet[0], feet[3]]).A[:, :6]
    assert np.linalg.matrix_rank(J_b) == 5


@pytest.fixture(scope='module')
def quadruped():
    """(Robot, a configuration with bent knees, its four point contacts)."""
    solo12 = next(example for example in ROBOTS if str(example) == 'solo12')
    robot = Robot.from_urdf(solo12.urdf, base='floating', friction=False)
    q = robot.neutral()
    q[7:] = np.tile([0.1, 0.8, -1.6], 4) * np.repeat([1.0, 1.0, -1.0, -1.0], 3)
    return robot, q, [Constraint(f'{leg}_contact', 'point_contact', f'{leg}_FOOT')
                      for leg in ('FL', 'FR', 'HL', 'HR')]


@pytest.mark.parametrize(('change', 'word'), [
    (dict(tasks=FrameMotion('nose', (1.0, 0.0, 0.0))), "no frame 'nose'"),
    (dict(tasks='tool0'), 'tasks'), (dict(tasks=[['tool0']]), 'tasks'),
    (dict(weights=np.zeros(N)), 'weights'), (dict(weights=-np.ones(N)), 'weights'),
    (dict(preferred=np.ones(3)), 'preferred'), (dict(damping=-1.0), 'damping'),
    (dict(q=np.zeros(3)), 'q must have shape'), (dict(q=np.zeros((2, N))), 'one state')])
def test_bad_tasks_are_refused_by_name(arm7, change, word):
    """Unknown frames, sizes, signs."""
    arguments = {'q': np.zeros(N), 'tasks': FrameMotion('tool0', (1.0, 0.0, 0.0)), **change}
    with pytest.raises(DynamicsError, match=word):
        arm7.joint_velocities(**arguments)


@pytest.mark.parametrize(('make', 'word'), [
    (lambda: FrameMotion('tool0'), 'is empty'),
    (lambda: FrameMotion('tool0', (1.0, 0.0)), 'linear'),
    (lambda: FrameMotion('tool0', (1.0, 0.0, 0.0), weight=0.0), 'weight'),
    (lambda: Tracking('tool0'), 'target'),
    (lambda: Tracking(Target('tool0', (0.0, 0.0, 0.0)), angular='fast'), 'angular'),
    (lambda: Tracking(Target('tool0', (0.0, 0.0, 0.0)), position_gain=-1.0), 'position_gain')])
def test_a_bad_task_is_refused_when_it_is_made(make, word):
    """By the name of its field."""
    with pytest.raises(DynamicsError, match=word):
        make()
