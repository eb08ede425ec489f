"""Test Robot.simulate: batches, torques, wrenches, constraints, kernels, bad input."""

import numpy as np
import pytest
from support import small_robots

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7, MECHANISMS

TIME = np.array([0.0, 0.01, 0.03])


@pytest.fixture
def small():
    """An arm of two joints with friction."""
    return small_robots.arm()


@pytest.fixture
def state(small):
    return np.array([0.3, -0.5]), np.array([1.0, 0.5])


@pytest.mark.parametrize('base', ['fixed', 'floating'])
def test_a_batch_is_its_states_to_rounding(base):
    """In NumPy; kernels give the last digit too, see below."""
    batch = small_robots.specimen(small_robots.tree(3, base, mimic=True, friction_speed=1.0).robot,
                                  np.random.default_rng(0), (), n=3)
    found = batch.robot.simulate(batch.q, batch.v, batch.tau[0], TIME)
    assert found.q.shape == (3, 3, batch.robot.nq)
    for k in range(3):
        one = batch.robot.simulate(batch.q[k], batch.v[k], batch.tau[0], TIME)
        np.testing.assert_allclose(found.q[k], one.q, rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(found.v[k], one.v, rtol=0.0, atol=1e-12)


def test_kernels_give_what_numpy_gives(states, compiler_on):
    """Single and batch; the kernel is ready before the first step."""
    q, v, _, tau = states
    fast_arm, arm = (Robot.from_urdf(ARM7, friction=False, compile=on) for on in (True, False))
    slow = arm.simulate(q, v, tau[0], TIME)
    fast = fast_arm.simulate(q, v, tau[0], TIME)
    single = fast_arm.simulate(q[1], v[1], tau[0], TIME)
    np.testing.assert_allclose(fast.q, slow.q, rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(single.q, fast.q[1])


def test_one_state_and_many_velocities(small, state):
    found = small.simulate(state[0], np.zeros((4, 2)), np.zeros(2), TIME)
    assert found.v.shape == (4, 3, 2)
    assert small.simulate(np.zeros((0, 2)), state[1], np.zeros(2), TIME).q.shape == (0, 3, 2)


@pytest.mark.parametrize('method', ['rk4', 'dop853', 'radau'])
def test_torques_of_inverse_dynamics_give_the_motion(small, method):
    """A controller that feeds the torques of q = sin(t) forward; no feedback is needed."""
    def torque(t, q, v):
        return small.inverse_dynamics(q, v, -np.sin(t) * np.ones(2))
    time = np.linspace(0.0, 1.0, 5)
    found = small.simulate(np.zeros(2), np.ones(2), torque, time, method=method, step=0.01,
                           tolerance=1e-9)
    np.testing.assert_allclose(found.q, np.outer(np.sin(time), np.ones(2)), atol=1e-7)
    np.testing.assert_allclose(found.v, np.outer(np.cos(time), np.ones(2)), atol=1e-7)
    np.testing.assert_allclose(found.tau[-1], torque(1.0, found.q[-1], found.v[-1]))


def test_wrenches_that_carry_the_weight_hold_the_arm():
    """Constant in the frame, or a function of the state: both hold the upper link in its place."""
    locked = small_robots.arm(locked={'lower_joint': 0.0}, gravity=(0, 0, -9.81))
    q = np.array([0.4])
    torque = locked.gravity_torque(q)
    wrench = {'upper': (0, 0, 0, 0, torque[0], 0)}
    for given in (wrench, lambda t, q, v: wrench):
        found = locked.simulate(q, [0.0], [0.0], TIME, wrenches=given)
        np.testing.assert_allclose(found.q, 0.4, atol=1e-14)
    assert abs(locked.simulate(q, [0.0], [0.0], TIME).q[-1, 0] - 0.4) > 1e-5


def test_loops_of_the_robot_and_given_constraints_hold():
    mechanism = MECHANISMS['four_bar']
    robot = Robot.from_urdf(mechanism.urdf, loops=mechanism.loops)
    start = robot.neutral(), np.zeros(robot.nv)
    closed = robot.simulate(*start, np.zeros(robot.nv), TIME)
    tree = Robot.from_urdf(mechanism.urdf)
    given = tree.simulate(*start, np.zeros(robot.nv), TIME, constraints=robot.loops.constraints)
    np.testing.assert_array_equal(closed.q, given.q)
    assert np.abs(robot.constraint_rows(closed.q, closed.v).residual).max() < 1e-10
    opened = tree.simulate(*start, np.zeros(robot.nv), TIME)
    assert np.abs(robot.constraint_rows(opened.q, opened.v).residual).max() > 1e-5


def test_an_open_loop_is_pulled_together():
    """Baumgarte: the gap decays as (1 + alpha t) exp(-alpha t), from rest."""
    mechanism = MECHANISMS['four_bar']
    robot = Robot.from_urdf(mechanism.urdf, loops=mechanism.loops)
    q = robot.neutral() + 1e-4
    found = robot.simulate(q, np.zeros(robot.nv), np.zeros(robot.nv), [0.0, 0.1],
                           stabilisation=(20.0, 20.0))
    first, last = robot.constraint_rows(found.q, found.v).residual
    np.testing.assert_allclose(last, first * 3.0 * np.exp(-2.0), rtol=0.01, atol=1e-8)


@pytest.mark.parametrize(('name', 'value'), [
    ('q', [0.0]), ('v', [np.nan, 0.0]), ('torque', [1.0]), ('time', []), ('time', [1.0, 0.0]),
    ('time', 2.0), ('wrenches', {'nowhere': np.zeros(6)}), ('wrenches', lambda t, q, v: 3),
    ('method', 'euler'), ('step', 0.0), ('step', 1e-12), ('tolerance', 1e-20), ('tolerance', 2.0),
    ('stabilisation', (-1.0, 1.0)), ('progress', 3), ('constraints', [{'name': 'it'}])])
def test_bad_input_is_refused_by_name(small, state, name, value):
    given = {'q': state[0], 'v': state[1], 'torque': np.zeros(2), 'time': TIME, name: value}
    message = 'nowhere' if isinstance(value, dict) else name
    with pytest.raises(DynamicsError, match=message):
        small.simulate(**given)


def test_batches_of_two_sizes_are_refused(small):
    with pytest.raises(DynamicsError, match='q has 2, v has 3 rows'):
        small.simulate(np.zeros((2, 2)), np.zeros((3, 2)), np.zeros(2), TIME)


def test_a_step_that_is_too_long_for_the_gains_is_reported(small, state):
    with pytest.raises(DynamicsError, match='diverges at t = '):
        small.simulate(*state, lambda t, q, v: -1e7 * v, [0.0, 1.0], step=0.01)
    stopped = small.simulate(*state, lambda t, q, v: -1e7 * v, [0.0, 0.01], method='radau')
    np.testing.assert_allclose(stopped.v[-1], 0.0, atol=1e-5)


def test_the_callbacks_are_asked(small, state):
    shares = []
    small.simulate(*state, np.zeros(2), TIME, progress=lambda share, text: shares.append(share))
    np.testing.assert_allclose(shares, [1 / 3, 1.0])
