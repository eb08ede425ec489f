"""Test the torque modes on a floating base: contacts carry it, without them all are refused."""

import functools

import numpy as np
import pytest
from support.real_robots import ROBOTS
from support.tolerances import SOLVED

from dynamics_node import Constraint, DynamicsError, Robot
from dynamics_node.control.controller import Controller
from dynamics_node.control.driver_compensation import PRESETS
from dynamics_node.control.gains import Gains
from dynamics_node.control.laws import JOINT_MODES
from dynamics_node.control.spline import MotionSample

FEET = [Constraint(f'{leg}_contact', 'point_contact', f'{leg}_FOOT')
        for leg in ('FL', 'FR', 'HL', 'HR')]
KNEES = [8, 11, 14, 17]   # places in v
ASKED = 'as constraints .parameter constraints of the node, argument loops of Robot.from_urdf'
GAINS = Gains.per_joint(18, 50.0, 5.0)


@functools.cache
def solo12(feet=4):
    path = next(robot.path for robot in ROBOTS if str(robot) == 'solo12')
    return Robot.from_urdf(path, base='floating', friction=False, compile=False,
                           loops=FEET[:feet] or None)


def standing():
    """Return (q, v) at rest on bent knees."""
    q = solo12().neutral()
    q[7:] += np.tile([0.0, 0.8, -1.6], 4) * np.repeat([1.0, 1.0, -1.0, -1.0], 3)
    return q, np.zeros(18)


def torques(controller):
    """Return the torque of a mode at rest, and the torque of its safe action."""
    q, v = standing()
    return controller.torque(q, v, MotionSample(q, v, v)), controller.holding_torque(q)


@pytest.mark.parametrize('driver', PRESETS)
@pytest.mark.parametrize('mode', JOINT_MODES)
def test_without_contacts_every_mode_is_refused(mode, driver):
    """Also safe_action gravity, and a driver that adds gravity itself."""
    controller = Controller(solo12(feet=0), mode, GAINS, driver)
    q, v = standing()
    for ask in (lambda: controller.torque(q, v, MotionSample(q, v, v)),
                lambda: controller.holding_torque(q)):
        with pytest.raises(DynamicsError, match=f"'floating_base' is floating .*{ASKED}"):
            ask()


@pytest.mark.parametrize('mode', JOINT_MODES)
def test_on_four_feet_every_mode_balances_gravity(mode):
    """A robot at rest stays at rest, and no motor acts on its base."""
    robot = solo12()
    q, v = standing()
    for tau in torques(Controller(robot, mode, GAINS)):
        assert not tau[:6].any()
        assert np.abs(tau[KNEES]).min() > 0.4  # [N m]; of legs that hang 0.03
        assert np.abs(robot.constrained_forward_dynamics(q, v, tau).a).max() < 1e-9


def test_feet_carry_the_weight():
    """The contact forces of the torque add up to it."""
    robot = solo12()
    q, v = standing()
    force = robot.constrained_forward_dynamics(q, v, Controller(robot).torque(q)).multipliers
    weight = robot.total_mass * 9.81
    assert np.abs(force.reshape(4, 3).sum(axis=0) - [0.0, 0.0, weight]).max() < SOLVED * weight


@pytest.mark.parametrize('mode', JOINT_MODES)
def test_a_driver_that_compensates_gravity_is_sent_the_rest(mode):
    """On four feet: nothing, or the share of the payload."""
    robot = solo12()
    loaded = robot.with_payload('box', 'base_link', 1.0)
    want = torques(Controller(loaded, mode, GAINS))[0] - torques(Controller(robot, mode, GAINS))[0]
    assert np.abs(want[KNEES]).min() > 0.1
    for driver, expected in (('without_gravity', 0.0), ('without_bare_gravity', want),
                             ('payload_only', want)):
        for tau in torques(Controller(loaded, mode, GAINS, driver)):
            assert np.abs(tau - expected).max() < SOLVED


@pytest.mark.parametrize('feet', [1, 2])
def test_too_few_feet_are_refused(feet):
    """The robot can tip about a point, or about the line between two."""
    q, _ = standing()
    with pytest.raises(DynamicsError, match=f'floating_base.* can move while the motors.*{ASKED}'):
        Controller(solo12(feet)).torque(q)


def test_a_floating_joint_elsewhere_is_refused_too():
    """Any floating joint, not only that of the base."""
    robot = Robot.from_urdf(
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia '
        'ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><joint name="loose" '
        'type="floating"><parent link="a"/><child link="b"/></joint></robot>', compile=False)
    with pytest.raises(DynamicsError, match="'loose' is floating and nothing holds it"):
        Controller(robot).torque(robot.neutral())
