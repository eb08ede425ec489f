"""Test the whole-body problem: laws of its solutions, and a direct solution of the KKT system."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.standing_robots import BOUNDS, FEET, FRICTION, TORQUE, solo12, stacked, state, tasks
from support.tolerances import PRIORITY, SOLVED

from dynamics_node import Robot
from dynamics_node.constrained.friction_cone import check_contacts
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.qp_hierarchy import Level
from dynamics_node.task_space.tasks import Task
from dynamics_node.task_space.whole_body import best_by_one_qp

KEPT = 1e-9        # what a bound may be missed by: ten times qp.TOLERANCE; no row is over 1.4 long
BY_KKT = 1e-9      # through a KKT matrix of condition 500; least squares where active rows repeat
STRICT, WEIGHTED = (1, 2, 3), (1, 1, 1)


@pytest.mark.parametrize('levels', [WEIGHTED, STRICT], ids=['weighted', 'strict'])
@given(seed=st.integers(0, 10_000), violence=st.sampled_from([1.0, 10.0, 60.0]))
@settings(max_examples=15, deadline=None)
def test_every_solution_obeys_the_laws(levels, seed, violence):
    """Motion, contacts, torques, friction: for any tasks."""
    robot = solo12()
    q, v = state(seed)
    found = robot.whole_body(q, v, tasks(q, seed, levels, violence), FEET, BOUNDS)
    assert found.status == 'solved'
    M, h, held, force = stacked(robot, q, v, found)
    push = M @ found.acceleration + h
    assert np.abs(push - found.torque - held.A.T @ force).max() <= SOLVED * np.abs(push).max()
    assert np.abs(held.A @ found.acceleration + held.gamma).max() <= SOLVED * (
        1.0 + np.abs(found.acceleration).max())
    assert (found.torque[:6] == 0.0).all()
    assert (np.abs(found.torque) <= TORQUE + KEPT).all()
    assert (np.abs(found.acceleration[6:]) <= 300.0 * (1.0 + KEPT)).all()
    for contact in check_contacts(FEET, force):
        assert contact.normal >= -KEPT and contact.tangential <= FRICTION * contact.normal + KEPT


def test_violent_tasks_activate_bounds_of_every_kind():
    """Else the test above proves little."""
    touched = set()
    for seed in range(6):
        q, v = state(seed)
        found = solo12().whole_body(q, v, tasks(q, seed, STRICT, 60.0), FEET, BOUNDS)
        touched |= {name.split(' of ')[0] for name in found.active}
    assert {'torque', 'friction'} <= touched


@pytest.mark.parametrize('seed', range(6))
@pytest.mark.parametrize('violence', [1.0, 60.0])
def test_weighted_is_the_direct_solution_of_its_kkt_conditions(seed, violence):
    """Over (a, f, tau), torques as unknowns, with the active bounds as equalities."""
    robot = solo12()
    q, v = state(seed)
    todo = tasks(q, seed, WEIGHTED, violence)
    found = robot.whole_body(q, v, todo, FEET, BOUNDS)
    M, h, held, force = stacked(robot, q, v, found)
    x = np.concatenate([found.acceleration, force, found.torque[6:]])
    P, c = _cost(robot, q, v, todo)
    S = np.eye(18)[6:]
    rows = np.block([[M, -held.A.T, -S.T], [held.A, np.zeros((12, 24))]])
    goal = np.concatenate([-h, -held.gamma])
    G, limit = _limits()
    active = limit - G @ x <= 1e-8
    A, b = np.vstack([rows, G[active]]), np.concatenate([goal, limit[active]])
    K = np.block([[P, A.T], [A, np.zeros((len(A), len(A)))]])
    direct = np.linalg.lstsq(K, np.concatenate([-c, b]), rcond=1e-14)[0]
    assert np.abs(direct[:42] - x).max() <= BY_KKT * np.abs(x).max()
    # The bounds push the right way: least squares for nonnegative multipliers leave nothing.
    from scipy.optimize import nnls
    gradient = P @ x + c
    free = np.linalg.svd(rows)[2][len(rows):]
    _, left = nnls(free @ -G[active].T, free @ gradient) if active.any() else (
        None, np.linalg.norm(free @ gradient))
    assert left <= BY_KKT * (1.0 + np.abs(c).max())


def _cost(robot, q, v, todo):
    """Return P, c of the weighted sum of squares over (a, f, tau), from the tasks' definition."""
    base, posture, torque, force = todo
    pose, J = robot.frame_pose(q, 'base_link'), robot.jacobian(q, 'base_link')
    R = pose[:3, :3]  # to the identity: the rotation vector of R' in the world
    angle = np.arccos(np.clip((np.trace(R) - 1.0) / 2.0, -1.0, 1.0))
    turn = -np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) * (
        angle / (2.0 * np.sin(angle)))
    error = np.concatenate([base.position[:3] - pose[:3, 3], turn])
    wanted = (base.acceleration + 100.0 * error - 20.0 * J @ v
              - robot.jacobian_rate(q, v, 'base_link') @ v)
    one = np.eye(42)
    A = np.vstack([J @ one[:18], 0.1 * one[6:18], 0.01 * one[30:], 0.01 * one[18:30]])
    b = np.concatenate([wanted, 0.1 * (-2.0 * np.sqrt(10.0) * v[6:]), np.zeros(24)])
    return A.T @ A, -A.T @ b


def _limits():
    """Return G x <= limit of torques, friction and accelerations, over (a, f, tau)."""
    one = np.eye(42)
    edge = FRICTION / np.sqrt(2.0)
    cone = np.array([[1.0, 0.0, -edge], [-1.0, 0.0, -edge], [0.0, 1.0, -edge], [0.0, -1.0, -edge],
                     [0.0, 0.0, -1.0]])
    G = np.vstack([one[30:], -one[30:], np.kron(np.eye(4), cone) @ one[18:30], one[6:18],
                   -one[6:18]])
    return G, np.concatenate([np.full(24, TORQUE), np.zeros(20), np.full(24, 300.0)])


@pytest.mark.parametrize('seed', range(4))
def test_lower_levels_do_not_disturb_higher_ones(seed):
    """The error of the base with all tasks is that without the others."""
    q, v = state(seed)
    todo = tasks(q, seed, STRICT, 60.0)
    alone = solo12().whole_body(q, v, todo[:1], FEET, BOUNDS)
    both = solo12().whole_body(q, v, todo[:2], FEET, BOUNDS)
    every = solo12().whole_body(q, v, todo, FEET, BOUNDS)
    size = 1.0 + np.abs(todo[0].acceleration).max()
    for found in (both, every):
        assert np.abs(found.errors['base'] - alone.errors['base']).max() <= PRIORITY * size
    change = every.errors['posture'] - both.errors['posture']
    assert np.abs(change).max() <= PRIORITY * (1.0 + np.abs(both.errors['posture']).max())


def test_least_torque_is_minimal():
    """Any other distribution of contact forces needs more, for the same motion."""
    robot = solo12()
    q, v = state(2, speed=0.0)
    still = (Task('base', 'frame', 0, frame='base_link', stiffness=0.0),
             Task('least torque', 'torque'))
    found = robot.whole_body(q, v, still, FEET, bounds=())
    assert np.abs(found.acceleration).max() < SOLVED
    A = robot.constraint_rows(q, v, FEET).A
    internal = np.linalg.svd(A[:, :6].T)[2][6:].T  # forces that the base does not feel
    slope = internal.T @ A[:, 6:] @ found.torque[6:]
    assert np.abs(slope).max() <= SOLVED * np.abs(found.torque).max()
    other = robot.floating_base_torques(q, v, found.acceleration, FEET, choice='least_torque')
    assert np.abs(other.tau - found.torque).max() <= SOLVED * np.abs(other.tau).max()


def test_an_arm_without_bounds_gets_the_torques_of_inverse_dynamics(arm):
    """For posture tasks that prescribe an acceleration."""
    rng = np.random.default_rng(3)
    q, (v, a) = arm.random_configuration(rng), rng.normal(size=(2, 7))
    ask = Task('move', 'posture', acceleration=a, stiffness=0.0)
    wrench = {'tool0': rng.normal(size=6)}
    for level in (0, 1):
        task = Task('move', 'posture', level, acceleration=a, stiffness=0.0)
        found = arm.whole_body(q, v, [task], bounds=(), wrenches=wrench)
        tau = arm.inverse_dynamics(q, v, a, wrench)
        assert np.abs(found.torque - tau).max() <= SOLVED * np.abs(tau).max()
    assert ask.damping == 0.0 and found.forces == {}


def test_a_force_task_and_a_motion_task_are_both_met():
    """One foot exerts the given force, the base is at rest."""
    robot = solo12()
    q, v = state(1, speed=0.0)
    push = (0.5, -0.3, 9.0)
    found = robot.whole_body(q, v, [
        Task('base', 'frame', 1, frame='base_link', stiffness=0.0),
        Task('push', 'force', 2, contact='FR_contact', value=push),
        Task('rest', 'torque', 3)], FEET, BOUNDS)
    assert np.abs(found.errors['base']).max() <= PRIORITY
    assert np.abs(found.forces['FR_contact'] - push).max() <= PRIORITY * 9.0


def test_the_centre_of_mass_gets_the_wanted_acceleration():
    """So does the momentum: its rate is the sum of weight and contact forces."""
    robot = solo12()
    q, v = state(4)
    wanted = np.array([0.3, -0.2, 0.5])
    found = robot.whole_body(q, v, [
        Task('com', 'center_of_mass', acceleration=wanted, stiffness=0.0, damping=0.0),
        Task('posture', 'posture', 2, stiffness=0.0), Task('rest', 'force', 3)], FEET, BOUNDS)
    assert np.abs(found.errors['com']).max() <= PRIORITY
    forces = sum(found.forces.values()) + robot.total_mass * robot.gravity
    assert np.abs(forces / robot.total_mass - wanted).max() <= PRIORITY


def test_axes_that_are_left_out_are_free():
    """What is left out is free."""
    q, v = state(5)
    wanted = np.arange(6.0)
    both = {'frame': 'base_link', 'acceleration': wanted, 'stiffness': 0.0, 'damping': 0.0}
    found = solo12().whole_body(q, v, [Task('all', 'frame', 2, **both),
                                       Task('some', 'frame', 1, axes=('z', 'rx'), **both)], FEET)
    J = solo12().jacobian(q, 'base_link')
    w = J @ found.acceleration + solo12().jacobian_rate(q, v, 'base_link') @ v
    assert np.abs(w[[2, 3]] - wanted[[2, 3]]).max() <= PRIORITY
    assert found.errors['some'].shape == (2,)


def test_soft_bounds_have_the_least_violation():
    """A torque limit too low to stand: infeasible if hard."""
    q, v = state(0, speed=0.0)
    stand = [Task('base', 'frame', 0, frame='base_link', stiffness=0.0)]
    low = 0.2
    found = solo12().whole_body(q, v, stand, FEET, [Bound('torque', limit=low), Bound('friction')])
    assert found.status == 'infeasible'
    soft = [Bound('torque', limit=low, level=1), Bound('friction')]
    found = solo12().whole_body(q, v, stand, FEET, soft)
    assert found.status == 'solved' and np.abs(found.torque).max() > low


@pytest.mark.parametrize('seed', range(5))
def test_one_level_is_one_qp_whatever_the_units(seed):
    """Columns from 0.004 to 250, as of hips and wrists: x changes with the units, no more."""
    rng = np.random.default_rng(seed)
    A, b, C = rng.normal(size=(9, 5)), rng.normal(size=9), rng.normal(size=(3, 5))
    none, limit = np.zeros((0, 5)), np.full(3, 0.1)
    units = 10.0 ** np.array([-2.4, -1.5, 0.0, 1.0, 2.4])
    plain, scaled = (best_by_one_qp([Level(A * size, b)],
                                    Level(none, np.zeros(0), C * size, -limit, limit))
                     for size in (1.0, units))
    assert plain is not None and scaled is not None and plain[1] == scaled[1] == 'solved'
    assert np.abs(scaled[0] * units - plain[0]).max() <= KEPT * np.abs(plain[0]).max()


def test_a_level_that_does_not_determine_x_is_no_single_qp():
    """Two equal columns; a QP that its solver refuses is none either."""
    A = np.random.default_rng(0).normal(size=(9, 3))
    free = Level(np.zeros((0, 3)), np.zeros(0))
    assert best_by_one_qp([Level(A[:, [0, 1, 1]], np.ones(9))], free) is None
    assert best_by_one_qp([Level(1e-9 * A, np.ones(9))], free) is None


def test_a_continuous_joint_takes_the_shorter_way_to_its_posture():
    """Measured pi - 0.01; wanted -pi + 0.01, which is 0.02 further on."""
    wheel = Robot.from_urdf("""<robot name="wheel"><link name="base"/><link name="rim"><inertial>
      <mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hub" type="continuous"><parent link="base"/><child link="rim"/>
      <axis xyz="0 0 1"/></joint></robot>""")
    posture = Task('there', 'posture', position=[-np.pi + 0.01], stiffness=100.0)
    found = wheel.whole_body([np.pi - 0.01], [0.0], [posture], bounds=())
    assert abs(found.acceleration[0] - 100.0 * 0.02) < SOLVED
