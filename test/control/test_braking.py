"""Test braking: the torque stays within its limits, and the robot stops on its line."""

import numpy as np
import pytest

from dynamics_node import DynamicsError, Robot
from dynamics_node.control.braking import LEAST_RATE, braking_rate
from dynamics_node.control.controller import Controller
from dynamics_node.example_robots import ARM7
from dynamics_node.safety import limits_of

EFFORT = limits_of(Robot.from_urdf(ARM7)).effort


@pytest.fixture
def moving(arm):
    """A robot without friction, and a state in which gravity leaves room to brake."""
    rng = np.random.default_rng(3)
    arm = arm.with_friction(*(dict.fromkeys(arm.joint_names, 0.0),) * 2)
    return arm, 0.5 * arm.random_configuration(rng), 0.5 * rng.normal(size=arm.nv)


def test_the_rate_is_the_largest_within_the_limits():
    coasting, per_rate = np.array([1.0, -2.0, 0.0]), np.array([-3.0, 1.0, 0.0])
    rate = braking_rate(coasting, per_rate, np.array([17.0, 100.0, 5.0]), 50.0)
    assert rate == pytest.approx(6.0)   # 1 - 6 * 3 = -17


def test_the_rate_is_bounded_below_and_above():
    one = np.ones(1)
    assert braking_rate(0.0 * one, 0.01 * one, 10.0 * one, 40.0) == 40.0
    assert braking_rate(11.0 * one, one, 10.0 * one, 40.0) == LEAST_RATE
    assert braking_rate(0.0 * one, 0.0 * one, 10.0 * one, 40.0) == 40.0
    assert braking_rate(one, one, 0.0 * one, 40.0) == 40.0, 'no motor, no limit'


def test_the_braked_acceleration_is_opposite_to_the_velocity(moving):
    """By forward dynamics; one joint is at its limit."""
    arm, q, v = moving
    tau = Controller(arm).braking_torque(q, v, EFFORT, 1000.0)
    a = arm.forward_dynamics(q, v, tau)
    rate = -(a @ v) / (v @ v)
    assert rate > LEAST_RATE and a == pytest.approx(-rate * v, abs=1e-8)
    assert np.abs(tau / EFFORT).max() == pytest.approx(1.0)


@pytest.mark.parametrize('driver', ['without_gravity', 'without_bare_gravity_and_friction'])
def test_the_gravity_of_the_driver_is_subtracted(moving, driver):
    arm, q, v = moving
    full = Controller(arm).braking_torque(q, v, 1e6 * EFFORT, 5.0)
    less = Controller(arm, driver_compensation=driver).braking_torque(q, v, 1e6 * EFFORT, 5.0)
    assert full - less == pytest.approx(arm.gravity_torque(q))


def test_a_robot_that_its_driver_moves_is_not_braked(moving):
    arm, q, v = moving
    controller = Controller(arm, driver_compensation='payload_only')
    assert not controller.can_brake
    assert np.array_equal(controller.braking_torque(q, v, EFFORT, 5.0),
                          controller.holding_torque(q))


@pytest.mark.parametrize('scale', [0.2, 1.0, 3.0])
def test_the_arm_stops_on_its_line(moving, scale):
    """Within 0.6 s, integrated at 1 kHz with a torque that is one sample late."""
    arm, q, v = moving
    v = scale * v / np.abs(v).max()
    controller, dt = Controller(arm), 1e-3
    start, direction, late = q, v / np.linalg.norm(v), controller.holding_torque(q)
    for _ in range(600):
        tau = np.clip(controller.braking_torque(q, v, EFFORT, 50.0), -EFFORT, EFFORT)
        v = v + dt * arm.forward_dynamics(q, v, late)
        q, late = q + dt * v, tau
    assert np.abs(v).max() < 1e-3
    moved = q - start
    aside = moved - (moved @ direction) * direction
    assert np.linalg.norm(aside) < 0.05 * np.linalg.norm(moved)


def test_a_velocity_of_the_wrong_size_is_refused(moving):
    arm, q, _ = moving
    with pytest.raises(DynamicsError, match='v'):
        Controller(arm).braking_torque(q, np.zeros(3), EFFORT, 5.0)
