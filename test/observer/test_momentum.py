"""Test the momentum observer: a first-order low-pass of J' F_ext, zero without external forces."""

import numpy as np
import pytest
from support import random_trees
from support.differences import relative
from support.observed_motions import low_pass, swing
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7, MECHANISMS
from dynamics_node.observer.effort_meaning import meaning_of
from dynamics_node.observer.momentum import MomentumObserver, external_torques
from dynamics_node.observer.wrench import wrench_at

DT = 0.001
PUSH = np.array([3.0, -4.0, 5.0, 0.3, 0.2, -0.1])
BANDWIDTH = np.array([20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 80.0])


@pytest.fixture
def robot(arm):
    """The arm with rotors; its dry friction is smooth enough for steps of a millisecond."""
    return Robot.from_urdf(ARM7, armature={'joint_2': 0.3}, friction_speed=0.3)


def observer(robot, bandwidth=30.0, meaning='motor_torque', **options):
    return MomentumObserver(robot, meaning_of(robot, meaning), bandwidth, **options)


def at_rest(robot, q, push):
    """Return the effort that holds a robot under a push at its tool, in the tool's axes."""
    still = np.zeros(robot.nv)
    return robot.inverse_dynamics(q, still, still, {'tool0': push})


# What is seen -----------------------------------------------------------------------------------

@pytest.mark.parametrize('uneven', [False, True])
def test_the_estimate_of_a_constant_push_rises_as_one_minus_exp(robot, uneven):
    """r(t) = J' F (1 - exp(-K t)), each joint with its K, for any steps."""
    q, rng = robot.random_configuration(0), np.random.default_rng(1)
    external = robot.jacobian(q, 'tool0', local=True).T @ PUSH
    seen, t, still = observer(robot, BANDWIDTH), 0.0, np.zeros(7)
    seen.step(q, still, at_rest(robot, q, PUSH), DT)
    for _ in range(200):
        dt = rng.uniform(1e-5, 0.05) if uneven else DT
        t += dt
        r = seen.step(q, still, at_rest(robot, q, PUSH), dt)
        assert relative(r, external * (1.0 - np.exp(-BANDWIDTH * t))) < EXACT_MATHS


def moving(robot, push, dt, seconds=2.0):
    """Return (r of the observer, r by the filter's own equation) of a motion under a push."""
    time, q, v, a = swing(np.arange(0.0, seconds, dt), robot.nv)
    push = np.outer(np.sin(5.0 * time), push)
    effort = robot.inverse_dynamics(q, v, a, {'tool0': push})
    J = robot.jacobian(q, 'tool0', local=True)
    r = external_torques(robot, meaning_of(robot, 'motor_torque'), time, q, v, effort, BANDWIDTH)
    return r, low_pass(time, np.einsum('nij,ni->nj', J, push), BANDWIDTH), time


def test_the_estimate_in_motion_is_the_low_pass_of_the_push(robot):
    """Within the error of the trapezoidal rule, which is a quarter with half the step."""
    errors = []
    for dt in (0.004, 0.002):
        r, expected, _ = moving(robot, PUSH, dt, seconds=0.8)
        assert np.abs(expected).max() > 2.0
        errors.append(np.abs(r - expected).max())
    assert errors[1] < 0.005
    assert 3.5 < errors[0] / errors[1] < 4.5


def test_the_estimate_is_zero_in_free_motion(robot):
    """Bound: dt^2/12 of the second derivative of what flows in, here by differences."""
    dt = 0.002
    r, _, time = moving(robot, np.zeros(6), dt, seconds=1.0)
    _, q, v, a = swing(time, robot.nv)
    p = robot.generalised_momentum(q, v)
    inflow = p.drift + robot.inverse_dynamics(q, v, a) - robot.friction_torque(v)
    bound = np.abs(np.diff(inflow, 2, axis=0)).max(axis=0) / 12.0
    assert (np.abs(r).max(axis=0) < 1.1 * bound + 1e-9).all()  # 1.1: differences see the mean of it
    assert np.abs(r).max() < 1e-3


@pytest.mark.parametrize('base', ['fixed', 'floating'])
def test_a_push_at_two_links_of_any_tree_is_estimated(base):
    """Integrated by its own forward dynamics; a floating base has six entries of its own."""
    tree = random_trees.Tree(6, base, False)
    robot, rng, q, v, *_ = random_trees.make(tree, friction_speed=1.0)
    v, dt, K = 0.3 * v, 0.0005, 200.0
    wrenches = {'l0': 5.0 * rng.normal(size=6), 'l9': 5.0 * rng.normal(size=6)}
    tau = robot.gravity_torque(q)
    seen = observer(robot, K)
    seen.step(q, v, tau, dt)
    for _ in range(80):   # eight time constants
        q, v = _runge_kutta(robot, q, v, tau, wrenches, dt)
        r = seen.step(q, v, tau, dt)
    external = sum(robot.jacobian(q, frame, local=True).T @ F for frame, F in wrenches.items())
    assert np.abs(external).max() > 5.0
    assert relative(r, external) < 0.05   # J moves on while r follows, 1/K = 5 ms behind


def _runge_kutta(robot, q, v, tau, wrenches, dt):
    """Return the state after dt, by the midpoint rule."""
    a = robot.forward_dynamics(q, v, tau, wrenches)
    middle, speed = robot.integrate(q, v, dt / 2), v + dt / 2 * a
    a = robot.forward_dynamics(middle, speed, tau, wrenches)
    return robot.integrate(q, speed, dt), v + dt * a


def test_a_recording_gives_the_same_numbers_as_single_samples(robot):
    """Also after a gap, where the balance begins anew."""
    times = np.arange(0.0, 0.1, DT)
    time, q, v, a = swing(np.where(times > 0.05, times + 0.3, times), 7)
    effort = robot.inverse_dynamics(q, v, a) + 1.0
    whole = external_torques(robot, meaning_of(robot, 'motor_torque'), time, q, v, effort)
    seen = observer(robot)
    steps = [seen.step(*sample, dt) for *sample, dt in zip(q, v, effort, [0.0, *np.diff(time)])]
    assert relative(np.array(steps), whole) < EXACT_MATHS


# What goes on -----------------------------------------------------------------------------------

def test_a_new_payload_causes_no_jump(robot):
    """The momentum jumps with the mass; the external torque does not."""
    loaded = robot.with_payload('box', 'tool0', 3.0, (0.0, 0.1, 0.1))
    time, q, v, a = swing(np.arange(0.0, 0.5, DT), 7)
    effort = [each.inverse_dynamics(q, v, a) for each in (robot, loaded)]
    seen, largest = observer(robot), 0.0
    for k in range(len(time)):
        if k == 250:
            seen.use(loaded)
        r = seen.step(q[k], v[k], effort[k >= 250][k], DT)
        largest = max(largest, np.abs(r).max())
    assert largest < 1e-3
    assert np.abs(loaded.generalised_momentum(q[250], v[250]).value
                  - robot.generalised_momentum(q[250], v[250]).value).max() > 0.1


def test_gaps_and_repeated_samples_do_not_change_the_estimate(robot):
    q, still = robot.random_configuration(0), np.zeros(7)
    effort, other = at_rest(robot, q, PUSH), robot.random_configuration(1)
    seen = observer(robot, longest_step=0.1)
    seen.step(q, still, effort, DT)
    r = seen.step(q, still, effort, 0.05)
    assert np.abs(r).max() > 1.0
    np.testing.assert_array_equal(seen.step(q, still, effort, 0.0), r)
    np.testing.assert_array_equal(seen.step(other, still + 1.0, effort, 0.2), r)
    seen.reset()
    assert not seen.torque.any()
    assert not seen.step(q, still, effort, DT).any()


def test_the_observer_restarts_after_a_refusal(robot):
    """The time since the last sample is not known."""
    time, q, v, a = swing(np.arange(0.0, 0.2, DT), 7)
    effort, seen = robot.inverse_dynamics(q, v, a), observer(robot)
    for k in range(len(time)):
        if k % 10 == 5:
            with pytest.raises(DynamicsError, match='is too large: a'):
                seen.step(q[k], v[k], effort[k] + 1e308, DT)
        else:
            assert np.abs(seen.step(q[k], v[k], effort[k], DT)).max() < 1e-3


@pytest.mark.parametrize(('what', 'message'), [
    (lambda robot: observer(robot, 0.0), 'bandwidth is 0; expected numbers above zero'),
    (lambda robot: observer(robot, [1.0, 2.0]), 'bandwidth is .* expected 7 finite numbers'),
    (lambda robot: observer(robot, longest_step=-1.0), 'longest_step is -1'),
    (lambda robot: observer(robot).step(np.zeros(7), np.zeros(7), np.full(7, np.nan), DT),
     'effort'),
    (lambda robot: observer(robot).step(np.zeros(6), np.zeros(7), np.zeros(7), DT), 'q '),
    (lambda robot: external_torques(robot, meaning_of(robot, 'motor_torque'), [0.0, 0.0],
                                    *np.zeros((3, 2, 7))), 'time must increase'),
    (lambda robot: external_torques(robot, meaning_of(robot, 'motor_torque'), [0.0, 0.1],
                                    *np.zeros((3, 2, 7)), bandwidth=-1.0), 'bandwidth is -1;'),
    (lambda robot: external_torques(robot, meaning_of(robot, 'motor_torque'), [0.0, 0.1],
                                    *np.zeros((3, 2, 7)), longest_step=0.0), 'longest_step is 0'),
], ids=['bandwidth', 'size', 'step', 'nan', 'q', 'time', 'bandwidth of a recording',
        'step of a recording'])
def test_invalid_arguments_are_refused(robot, what, message):
    with pytest.raises(DynamicsError, match=message):
        what(robot)


def test_loops_are_refused():
    """Loop forces would be mistaken for external ones."""
    four_bar = MECHANISMS['four_bar']
    robot = Robot.from_urdf(four_bar.urdf, loops=four_bar.loops)
    with pytest.raises(DynamicsError, match='the robot has loops'):
        observer(robot)
    with pytest.raises(DynamicsError, match='the robot has loops'):
        external_torques(robot, observer(Robot.from_urdf(four_bar.urdf)).meaning, [0.0],
                         *np.zeros((3, 1, robot.nv)))


# A wrench at a frame ----------------------------------------------------------------------------

@pytest.mark.parametrize('local', [False, True])
def test_the_wrench_estimated_by_seven_joints_is_the_applied_one(robot, local):
    q = robot.random_configuration(2)
    found = wrench_at(robot, q, robot.jacobian(q, 'tool0', local).T @ PUSH, 'tool0', local)
    assert relative(found.wrench, PUSH) < SOLVED
    assert found.unseen.shape == (0, 6)
    assert np.abs(found.left_over).max() < SOLVED


def test_wrench_directions_without_joint_torque_are_reported(robot):
    """Three joints before link_3: three directions act on the bearings alone."""
    q = robot.random_configuration(2)
    J = robot.jacobian(q, 'link_3')
    found = wrench_at(robot, q, J.T @ PUSH, 'link_3')
    assert len(found.unseen) == 6 - np.linalg.matrix_rank(J, tol=0.02)
    assert np.abs(J.T @ found.unseen.T).max() < 0.2    # N m of one N, or one N m
    assert np.abs(J.T @ found.wrench + found.left_over - J.T @ PUSH).max() < 1e-12


def test_a_push_at_another_link_leaves_a_residual(robot):
    """A push at the elbow cannot be explained at an earlier frame."""
    q = robot.random_configuration(2)
    r = robot.jacobian(q, 'tool0').T @ PUSH
    assert np.abs(wrench_at(robot, q, r, 'link_2').left_over).max() > 0.1
