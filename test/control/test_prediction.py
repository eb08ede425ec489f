"""Test the prediction of the joint state: against an integrator, with friction and a driver."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.real_robots import ROBOTS
from support.tiny_robots import EVERY_KIND, MASSLESS

from dynamics_node import DynamicsError, Robot
from dynamics_node.control.controller import Controller
from dynamics_node.control.prediction import STEP, StatePredictor

TIME = 0.02   # [s]


def loaded(example):
    return Robot.from_urdf(example.urdf, base=example.base, compile=False)


def without_friction(robot):
    return robot.with_friction(*(dict.fromkeys(robot.joint_names, 0.0),) * 2)


def state_of(robot, seed=1):
    """Return a state, and the torque of an acceleration of a few rad/s^2 there."""
    rng = np.random.default_rng(seed)
    q, v = robot.random_configuration(rng), 0.5 * rng.normal(size=robot.nv)
    return q, v, robot.inverse_dynamics(q, v, 3.0 * rng.normal(size=robot.nv))


def predicted(controller, q, v, tau, time=TIME, driven=None):
    """Return q, v after a time under a constant torque."""
    driven = np.ones(len(v), bool) if driven is None else driven
    predictor = StatePredictor(controller, driven, q, v)
    predictor.advance(time / 3, tau)
    predictor.advance(time, tau)
    assert predictor.time == time
    return predictor.q, predictor.v


@pytest.mark.parametrize('example', ROBOTS, ids=str)
def test_the_prediction_is_that_of_an_integrator(example):
    """Forward dynamics, integrated to 1e-8, without friction; all robots that can be predicted."""
    robot = without_friction(loaded(example))
    controller = Controller(robot)
    if robot.nq != robot.nv:
        assert not controller.can_predict
        return
    q, v, tau = state_of(robot)
    solution = solve_ivp(lambda t, x: np.concatenate([
        x[robot.nv:], robot.forward_dynamics(x[:robot.nv], x[robot.nv:], tau)]), (0.0, TIME),
        np.concatenate([q, v]), method='RK23', rtol=1e-5, atol=1e-8)
    exact = solution.y[:, -1]
    q1, v1 = predicted(controller, q, v, tau)
    moved = np.abs(exact[:robot.nv] - q).max()
    assert q1 == pytest.approx(exact[:robot.nv], abs=0.05 * moved)
    changed = np.abs(exact[robot.nv:] - v).max()
    assert v1 == pytest.approx(exact[robot.nv:], abs=0.15 * changed)


def test_the_error_is_of_first_order_in_the_step(arm, monkeypatch):
    robot = without_friction(arm)
    q, v, tau = state_of(robot)
    ends = []
    for step in (STEP, STEP / 2, STEP / 32):
        monkeypatch.setattr('dynamics_node.control.prediction.STEP', step)
        ends.append(np.concatenate(predicted(Controller(robot), q, v, tau)))
    coarse, fine = (np.abs(end - ends[2]).max() for end in ends[:2])
    assert coarse < 2e-3 and 0.4 < fine / coarse < 0.6


def test_friction_stops_a_joint_but_does_not_reverse_it(arm):
    """However strong it is, and however steep near zero: energy only decreases."""
    robot = arm.with_friction(*(dict.fromkeys(arm.joint_names, x) for x in (5.0, 20.0)))
    q, v, _ = state_of(robot)
    controller = Controller(robot)
    predictor, energy = StatePredictor(controller, np.ones(7, bool), q, v), [np.inf]
    for k in range(1, 100):
        predictor.advance(k * STEP, controller.holding_torque(predictor.q))
        energy.append(robot.kinetic_energy(predictor.q, predictor.v))
    assert (np.diff(energy) <= 1e-12).all() and np.abs(predictor.v).max() < 1e-3


def test_joints_that_are_not_driven_keep_their_velocity(arm):
    q, v, tau = state_of(arm)
    driven = np.arange(7) != 3
    q1, v1 = predicted(Controller(without_friction(arm)), q, v, tau, driven=driven)
    assert v1[3] == v[3] and q1[3] == pytest.approx(q[3] + TIME * v[3])
    assert np.abs(v1 - v)[driven].min() > 0.0


@pytest.mark.parametrize('driver', ['without_gravity', 'without_bare_gravity_and_friction'])
def test_what_the_driver_adds_is_included(arm, driver):
    """The command holds the arm, whatever part of it the driver adds."""
    q = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])
    controller = Controller(arm, driver_compensation=driver)
    q1, v1 = predicted(controller, q, np.zeros(7), controller.holding_torque(q))
    assert q1 == pytest.approx(q, abs=1e-12) and v1 == pytest.approx(0.0, abs=1e-9)
    _, falling = predicted(Controller(arm), q, np.zeros(7), controller.holding_torque(q))
    assert np.abs(falling).max() > 0.05


def test_a_time_that_has_passed_changes_nothing(arm):
    q, v, tau = state_of(arm)
    predictor = StatePredictor(Controller(arm), np.ones(7, bool), q, v)
    predictor.advance(TIME, tau)
    before = predictor.q.copy(), predictor.v.copy()
    predictor.advance(TIME / 2, tau)
    assert np.array_equal(before, (predictor.q, predictor.v)) and predictor.time == TIME


def test_a_robot_that_its_driver_moves_cannot_be_predicted(arm):
    assert not Controller(arm, driver_compensation='payload_only').can_predict


def test_joints_of_every_kind_are_predicted():
    """Prismatic, continuous, planar, mimic: the prediction is that of a fine integration."""
    robot = without_friction(Robot.from_urdf(EVERY_KIND, compile=False))
    controller = Controller(robot)
    assert robot.nq == robot.nv and controller.can_predict
    q, v, tau = state_of(robot)
    fine_q, fine_v = q, v
    for _ in range(2000):
        fine_v = fine_v + TIME / 2000 * robot.forward_dynamics(fine_q, fine_v, tau)
        fine_q = robot.integrate(fine_q, fine_v, TIME / 2000)
    q1, v1 = predicted(controller, q, v, tau)
    assert q1 == pytest.approx(fine_q, abs=0.05 * np.abs(fine_q - q).max())
    assert v1 == pytest.approx(fine_v, abs=0.15 * np.abs(fine_v - v).max())


def test_a_singular_mass_matrix_is_an_error_of_its_own():
    """By a link without inertia."""
    robot = without_friction(Robot.from_urdf(MASSLESS, compile=False))
    predictor = StatePredictor(Controller(robot), np.ones(2, bool), np.zeros(2), np.ones(2))
    with pytest.raises(DynamicsError, match='mass matrix is singular'):
        predictor.advance(STEP, np.zeros(2))
