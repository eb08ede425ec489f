"""Test which changes of payload, gravity and gains are refused while torques are published."""

import numpy as np
import pytest

from dynamics_node import DynamicsError, Robot
from dynamics_node.control.blended_controller import BlendedController
from dynamics_node.control.controller import Controller
from dynamics_node.control.gains import Gains
from dynamics_node.control.spline import MotionSample
from dynamics_node.example_robots import ARM7
from dynamics_node.ros.torque.change_checks import Present, check_change, check_held
from dynamics_node.safety import SafetySettings, gate_limits_of, limits_of

ROBOT = Robot.from_urdf(ARM7, compile=False)
BARE = Controller(ROBOT)
LIMITS = gate_limits_of(limits_of(ROBOT), SafetySettings())   # change_rate 1.5/s
Q = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])
UPRIGHT = np.zeros(7)


def carrying(mass, robot=ROBOT):
    return Controller(robot.with_payload('box', 'tool0', mass))


def present(controller=BARE, q=Q, motion=None, blend=None, blend_time=0.2):
    return Present(q, np.zeros(7), motion, LIMITS, controller, blend, blend_time)


def change(new, soon=None, **where):
    check_change(present(**where), new, soon or new, new)


@pytest.mark.parametrize('mass', [0.5, 3.0])
def test_a_payload_that_the_arm_can_carry_is_accepted(mass):
    change(carrying(mass))
    change(BARE, controller=carrying(mass))


@pytest.mark.parametrize('q', [Q, UPRIGHT], ids=['bent', 'upright'])
def test_a_payload_that_the_arm_cannot_carry_is_refused_with_the_numbers(q):
    """Also upright, where its torque is zero, but not a little beside it."""
    needed = np.max([np.abs(carrying(1e6).holding_torque(near)) for near in (
        q, *(q + 0.1 * sign * row for row in np.eye(7) for sign in (1, -1)))], axis=0)
    with pytest.raises(DynamicsError, match='cannot hold the arm in this pose') as refusal:
        change(carrying(1e6), q=q)
    assert f"joint 'joint_2' {needed[1]:.4g} of 120" in str(refusal.value)
    with pytest.raises(DynamicsError, match='cannot hold the arm in this pose'):
        check_held(carrying(1e6), q, LIMITS)


def test_an_overloaded_arm_may_be_unloaded_in_steps():
    """It is still overloaded after the first."""
    check_held(carrying(80.0), Q, LIMITS, carrying(100.0))
    with pytest.raises(DynamicsError, match='cannot hold'):
        check_held(carrying(110.0), Q, LIMITS, carrying(100.0))


def test_a_fast_change_is_refused_with_the_numbers():
    """Within the blend time; a longer one is accepted."""
    new = carrying(8.0)
    rate = np.abs(new.holding_torque(Q) - BARE.holding_torque(Q)) / 0.2
    assert rate[5] > 1.5 * 20.0
    with pytest.raises(DynamicsError, match='too fast') as refusal:
        change(new)
    assert f"joint 'joint_6' by {rate[5]:.4g} per second, at most 30" in str(refusal.value)
    change(new, blend_time=2.0)


def test_a_transition_counts_by_its_rate():
    """A share of the payload a millisecond later."""
    slow, fast = carrying(8.0 * 1e-3 / 2.0), carrying(8.0 * 1e-3 / 0.2)
    check_change(present(), BARE, slow, carrying(8.0))
    with pytest.raises(DynamicsError, match='too fast'):
        check_change(present(), BARE, fast, carrying(8.0))


@pytest.mark.parametrize('gravity, accepted', [
    ((1.9, 0.0, -9.7), True), ((0.0, 0.0, 9.81), False), ((0.0, 0.0, -40.0), False)])
def test_gravity_has_bounds_and_a_rate(gravity, accepted):
    """On a slope, upside down, in no known place."""
    new = Controller(ROBOT.with_gravity(gravity))
    if accepted:
        change(new)
    else:
        with pytest.raises(DynamicsError, match='at most 2 at once|at most 30 m/s'):
            change(new)


def test_gains_are_refused_by_the_torque_that_they_change():
    """Of the error at the moment."""
    motion = MotionSample(Q + 0.1, np.zeros(7), np.zeros(7))
    soft, stiff = (Controller(ROBOT, 'impedance', Gains.per_joint(7, kp, 1.0))
                   for kp in (50.0, 500.0))
    change(stiff, controller=soft, motion=MotionSample(Q, np.zeros(7), np.zeros(7)))
    with pytest.raises(DynamicsError, match="joint 'joint_7' by 225 per second, at most 30"):
        change(stiff, controller=soft, motion=motion)


def test_joints_that_are_not_driven_are_not_refused():
    limits = gate_limits_of(limits_of(ROBOT, ['joint_7']), SafetySettings())
    where = present(controller=BARE)._replace(limits=limits)
    check_change(where, *[carrying(9.0)] * 3)


def test_a_change_is_compared_with_the_blend_that_is_under_way():
    """Not with its end."""
    blend = BlendedController(carrying(8.0), BARE, 0.0, 1.0)
    change(carrying(8.0), blend=blend)
    with pytest.raises(DynamicsError, match='too fast'):
        change(carrying(8.0))


def test_a_message_names_at_most_ten_joints():
    from dynamics_node.ros.torque.change_checks import _listed
    assert _listed(['a', 'b']) == 'a; b'
    assert _listed(['x'] * 12).endswith('x; and 2 more') and _listed(['x'] * 12).count('x') == 10
