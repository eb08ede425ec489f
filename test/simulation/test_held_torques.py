"""Test held_torques.py and Robot.rollouts: witnesses, threads, policies, bad input."""

import numpy as np
import pytest
from support import small_robots
from support.bundled_mechanisms import standing
from support.real_robots import ROBOTS

from dynamics_node import DynamicsError, Robot, RobotLink
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.robot import simulation
from dynamics_node.simulation import held_torques
from dynamics_node.simulation.runge_kutta import RungeKutta, steps_between

PERIOD, PERIODS = 0.02, 6
NV = 5   # of the arm


@pytest.fixture
def arm():
    """A tree of five joints whose friction permits long steps."""
    return small_robots.tree(2, 'fixed', mimic=False, friction_speed=1.0).robot


def draw(robot, n):
    """Return states and torques of n motions."""
    rng = np.random.default_rng(0)
    q = np.array([robot.random_configuration(rng) for _ in range(n)])
    return q, rng.normal(size=(n, robot.nv)), rng.normal(size=(n, PERIODS, robot.nv))


def test_a_sliding_mass_under_held_forces_moves_as_the_closed_form():
    """V' = f / m - g over each period: RK4 is exact, but for rounding."""
    slide = Robot.from_links([
        RobotLink('world'), RobotLink('mass', mass=2.0, parent='world', joint='prismatic',
                                      axis=(0, 0, 1))])
    force = np.array([[[30.0], [10.0]], [[0.0], [50.0]]])
    found = slide.rollouts(np.zeros(1), np.zeros(1), force, 0.5)
    a = force[..., 0] / 2.0 - 9.81
    v = np.cumsum(0.5 * a, axis=1)
    x = np.cumsum(0.5 * np.column_stack([np.zeros(2), v[:, 0]]) + 0.125 * a, axis=1)
    np.testing.assert_allclose(found.v[:, 1:, 0], v, atol=1e-13)
    np.testing.assert_allclose(found.q[:, 1:, 0], x, atol=1e-13)
    np.testing.assert_array_equal(found.time, [0.0, 0.5, 1.0])


@pytest.mark.parametrize('base', ['fixed', 'floating'])
def test_each_motion_is_that_of_simulate_period_by_period(base):
    robot = small_robots.tree(2, base, mimic=True, friction_speed=1.0).robot
    q, v, tau = draw(robot, 3)
    found = robot.rollouts(q, v, tau, PERIOD, step=0.005)
    assert found.q.shape == (3, PERIODS + 1, robot.nq)
    for n in range(3):
        state = q[n], v[n]
        for k in range(PERIODS):
            motion = robot.simulate(*state, tau[n, k], [k * PERIOD, (k + 1) * PERIOD], step=0.005)
            state = motion.q[-1], motion.v[-1]
            np.testing.assert_allclose(found.q[n, k + 1], state[0], rtol=0.0, atol=1e-12)
            np.testing.assert_allclose(found.v[n, k + 1], state[1], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize('example', ROBOTS, ids=str)
def test_the_motions_of_real_robots_are_those_of_simulate(example):
    """Two motions of one period, mimic joints and floating bases among them."""
    robot = Robot.from_urdf(example.urdf, base=example.base, friction=False)
    q, v, tau = draw(robot, 2)
    found = robot.rollouts(q, 0.1 * v, tau[:, :1], 0.002, step=0.001)
    for n in range(2):
        motion = robot.simulate(q[n], 0.1 * v[n], tau[n, 0], [0.0, 0.002], step=0.001)
        np.testing.assert_allclose(found.q[n, -1], motion.q[-1], rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(found.v[n, -1], motion.v[-1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize('name', list(MECHANISMS))
def test_the_motions_of_mechanisms_are_those_of_simulate(name):
    """Their loops stay closed in both."""
    mechanism = MECHANISMS[name]
    robot = Robot.from_urdf(mechanism.urdf, loops=mechanism.loops, friction=False)
    q, v, _ = standing(robot.model, robot.loops.constraints, seed=0)
    tau = np.random.default_rng(0).normal(size=(2, 3, robot.nv))
    found = robot.rollouts(q, v, tau, 0.002, step=0.001)
    for n in range(2):
        state = q, v
        for k in range(3):
            motion = robot.simulate(*state, tau[n, k], [0.002 * k, 0.002 * (k + 1)], step=0.001)
            state = motion.q[-1], motion.v[-1]
        np.testing.assert_allclose(found.q[n, -1], state[0], rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(found.v[n, -1], state[1], rtol=1e-8, atol=1e-8)


def test_one_state_under_many_torques_and_many_states_under_one(arm):
    q, v, tau = draw(arm, 4)
    fan = arm.rollouts(q[0], v[0], tau, PERIOD)
    np.testing.assert_array_equal(fan.tau, tau)
    np.testing.assert_allclose(fan.q[2], arm.rollouts(q[0], v[0], tau[2], PERIOD).q, atol=1e-13)
    same = arm.rollouts(q, v, tau[1], PERIOD)
    np.testing.assert_allclose(same.v[3], arm.rollouts(q[3], v[3], tau[1], PERIOD).v, atol=1e-13)


def test_only_the_end_is_the_end(arm):
    q, v, tau = draw(arm, 4)
    whole, end = (arm.rollouts(q, v, tau, PERIOD, only_end=only) for only in (False, True))
    for all_of_it, last in zip(whole, end):
        np.testing.assert_array_equal(all_of_it[..., -1:] if all_of_it.ndim == 1
                                      else all_of_it[..., -1:, :], last)


def test_threads_change_no_bit(arm, monkeypatch):
    q, v, tau = draw(arm, 7)
    alone = arm.rollouts(q, v, tau, PERIOD)
    monkeypatch.setattr(held_torques, 'FEWEST', 3)
    monkeypatch.setattr(held_torques, 'MOST', 3)
    monkeypatch.setenv('DYNAMICS_NODE_THREADS', '2')
    for one, other in zip(alone, arm.rollouts(q, v, tau, PERIOD)):
        np.testing.assert_array_equal(one, other)
    fan = arm.rollouts(q[0], v[0], tau, PERIOD)
    np.testing.assert_allclose(fan.q[5], arm.rollouts(q[0], v[0], tau[5], PERIOD).q, atol=1e-13)


def test_a_policy_is_called_once_per_period_and_held(arm):
    calls = []

    def policy(t, q, v):
        calls.append(t)
        return -3.0 * q - v
    q, v, _ = draw(arm, 3)
    found = arm.rollouts(q, v, policy, PERIOD, PERIODS, step=0.005)
    np.testing.assert_allclose(calls, PERIOD * np.arange(PERIODS))
    np.testing.assert_allclose(found.tau, -3.0 * found.q[:, :-1] - found.v[:, :-1])
    np.testing.assert_allclose(arm.rollouts(q, v, found.tau, PERIOD, step=0.005).q, found.q)


@pytest.mark.parametrize(('step', 'parts'), [(None, 1), (0.02, 1), (0.005, 4), (0.0049, 5)])
def test_all_periods_have_the_same_number_of_steps(arm, monkeypatch, step, parts):
    """(k + 1) period - k period is above `period` by rounding, by 1e-12 of it from k = 12801 on."""
    used = []
    monkeypatch.setattr(simulation, 'RungeKutta', lambda equations, step: (
        used.append(step), RungeKutta(equations, step))[1])
    arm.rollouts(*(each[0] for each in draw(arm, 1)), PERIOD, step=step)
    assert {steps_between(k * PERIOD, (k + 1) * PERIOD, used[0]) for k in range(30000)} == {parts}


def test_no_motions(arm):
    found = arm.rollouts(np.zeros(NV), np.zeros(NV), np.zeros((0, PERIODS, NV)), PERIOD)
    assert found.q.shape == (0, PERIODS + 1, NV)


@pytest.mark.parametrize(('change', 'text'), [
    ({'torque': np.zeros((4, 2, NV))}, 'torque has 4 motions, and q and v have 3 states'),
    ({'torque': np.zeros((0, NV))}, 'torque has 0 periods; expected at least one'),
    ({'periods': 3}, 'torque has 6 periods; expected 3'),
    ({'torque': lambda t, q, v: q}, 'periods is None'),
    ({'torque': np.zeros(NV)}, 'torque'), ({'period': 0.0}, 'period'), ({'step': -1.0}, 'step'),
    ({'step': 1e-12}, 'expected a longer step'),
    ({'torque': np.full((2, NV), 1e300)}, 'the motion diverges'),
])
def test_errors_name_the_argument(arm, change, text):
    q, v, tau = draw(arm, 3)
    with pytest.raises(DynamicsError, match=text):
        arm.rollouts(**{'q': q, 'v': v, 'torque': tau, 'period': PERIOD, **change})


def test_a_result_that_is_too_large_is_refused_before_it_is_computed(arm, monkeypatch):
    monkeypatch.setattr(held_torques, 'MOST_BYTES', 2000)
    q, v, tau = draw(arm, 10)
    with pytest.raises(DynamicsError, match='only_end=True'):
        arm.rollouts(q, v, tau, PERIOD)
    assert arm.rollouts(q, v, tau, PERIOD, only_end=True).q.shape == (10, 1, NV)
