"""Test the way from one controller to another: linear in time, one change after the other."""

import numpy as np
import pytest

from dynamics_node import Robot
from dynamics_node.control.blended_controller import BlendedController
from dynamics_node.control.controller import Controller
from dynamics_node.control.gains import Gains
from dynamics_node.control.spline import MotionSample
from dynamics_node.example_robots import ARM7

ROBOT = Robot.from_urdf(ARM7, compile=False)
Q, V = np.linspace(-0.6, 0.6, 7), np.full(7, 0.1)
MOTION = MotionSample(Q + 0.05, np.zeros(7), np.zeros(7))


def springs(kp, robot=ROBOT):
    return Controller(robot, 'impedance', Gains.per_joint(7, kp, 0.1 * kp))


@pytest.mark.parametrize('share', [0.0, 0.25, 0.5, 0.99])
def test_the_torque_is_that_of_gains_in_between(share):
    blend = BlendedController(springs(50.0), springs(200.0), 10.0, 0.4)
    assert blend.advance(10.0 + 0.4 * share) and blend.needs_reference
    expected = springs(50.0 + 150.0 * share).torque(Q, V, MOTION)
    assert blend.torque(Q, V, MOTION) == pytest.approx(expected)


def test_the_holding_torque_is_that_of_a_part_of_the_payload():
    """Half way, half of it."""
    blend = BlendedController(Controller(ROBOT), Controller(ROBOT.with_payload('b', 'tool0', 2.0)),
                              0.0, 0.2)
    blend.advance(0.1)
    expected = ROBOT.with_payload('b', 'tool0', 1.0).gravity_torque(Q)
    assert blend.holding_torque(Q) == pytest.approx(expected)
    assert not blend.needs_reference


def test_a_blend_ends():
    blend = BlendedController(springs(50.0), springs(200.0), 10.0, 0.4)
    assert blend.advance(10.39) and not blend.advance(10.4)


@pytest.mark.parametrize('now', [-1e9, 9.9])
def test_a_clock_that_was_set_back_does_not_leave_the_two_torques(now):
    blend = BlendedController(springs(50.0), springs(200.0), 10.0, 0.4)
    assert blend.advance(now)
    assert blend.torque(Q, V, MOTION) == pytest.approx(springs(50.0).torque(Q, V, MOTION))


def test_later_changes_wait_for_the_end_and_the_newest_counts():
    """The torque never jumps."""
    blend, last = BlendedController(springs(50.0), springs(200.0), 0.0, 0.2), None
    largest = np.abs(springs(200.0).torque(Q, V, MOTION) - springs(50.0).torque(Q, V, MOTION))
    for k in range(41):
        if k in (5, 6, 7):
            blend.then(springs(float(20 * k)))
        more, torque = blend.advance(0.01 * k), blend.torque(Q, V, MOTION)
        assert last is None or (np.abs(torque - last) <= largest * 0.01 / 0.2 + 1e-9).all()
        last = torque
    assert not more and last == pytest.approx(springs(140.0).torque(Q, V, MOTION))


def test_the_newest_controller_can_be_replaced():
    """While a payload is in transition; with and without a change that waits."""
    blend = BlendedController(springs(50.0), springs(200.0), 0.0, 0.2)
    blend.replace_newest(springs(100.0))
    blend.advance(0.1)
    assert blend.torque(Q, V, MOTION) == pytest.approx(springs(75.0).torque(Q, V, MOTION))
    blend.then(springs(300.0))
    blend.replace_newest(springs(400.0))
    assert blend.advance(0.2)
    assert blend.torque(Q, V, MOTION) == pytest.approx(springs(100.0).torque(Q, V, MOTION))
    assert not blend.advance(0.4)
    assert blend.torque(Q, V, MOTION) == pytest.approx(springs(400.0).torque(Q, V, MOTION))
