"""Test driver compensation: the torque sent plus that of the driver is the full law."""

import numpy as np
import pytest
from support import random_trees
from support.differences import relative
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot
from dynamics_node.control import laws
from dynamics_node.control.controller import Controller
from dynamics_node.control.driver_compensation import (
    DRIVERS,
    PRESETS,
    DriverCompensation,
    preset,
)
from dynamics_node.control.gains import Gains
from dynamics_node.control.spline import MotionSample
from dynamics_node.example_robots import ARM7
from dynamics_node.robot.changes import without_payloads

UPRIGHT, WALL = (0.0, 0.0, -9.81), (-9.81, 0.0, 0.0)
INERTIA = np.diag([0.02, 0.03, 0.04])


class Case:
    """A robot, bare and with payloads, a state and a reference, gains and scales."""

    def __init__(self, robot, rng):
        self.bare = robot
        self.robot = robot.with_payload('tool', robot.frame_names[-1], 1.5, (0.1, 0, 0.05), INERTIA)
        self.robot = self.robot.with_payload('box', robot.frame_names[-2], 0.7, (0, 0.2, 0))
        nv = robot.nv
        self.q, self.v = robot.random_configuration(rng), rng.normal(size=nv)
        self.motion = MotionSample(robot.integrate(self.q, rng.uniform(-0.5, 0.5, nv)),
                             *rng.normal(size=(2, nv)))
        self.gains = Gains.per_joint(nv, rng.uniform(1, 50, nv), rng.uniform(1, 9, nv))
        self.scales = dict(zip(('gravity_scale', 'friction_scale'), rng.uniform(0.5, 1.5, (2, nv))))

    def sent(self, mode, compensation, robot=None, **scales):
        controller = Controller(robot or self.robot, mode, self.gains, compensation, **scales)
        return controller.torque(self.q, self.v, self.motion)


# A floating joint has no motor: without contacts its robot has no torque.
DRIVEN = tuple('revolute' if kind == 'floating' else kind for kind in random_trees.KINDS)


@pytest.fixture(params=[0, 1, 5], ids=lambda k: str(random_trees.TREES[k]))
def case(request):
    tree = random_trees.make(random_trees.TREES[request.param], kinds=DRIVEN)
    return Case(tree.robot, tree.rng)


@pytest.fixture
def arm():
    return Case(Robot.from_urdf(ARM7, gravity=WALL), np.random.default_rng(1))


# Identities --------------------------------------------------------------------------------------


@pytest.mark.parametrize('mode', laws.JOINT_MODES)
@pytest.mark.parametrize('name, known', [('without_gravity', 'robot'),
                                         ('without_bare_gravity', 'bare')])
def test_the_sent_torque_plus_the_drivers_gravity_is_the_full_law(case, mode, name, known):
    """Gravity of the driver's model, at the measured q, with its own gravity vector."""
    full = case.sent(mode, 'full')
    assert relative(case.sent(mode, name) + getattr(case, known).gravity_torque(case.q),
                    full) < 10 * EXACT_MATHS
    driver = getattr(case, known).with_gravity((1.0, 2.0, -3.0))
    sent = case.sent(mode, preset(name, driver_gravity=(1.0, 2.0, -3.0)))
    assert relative(sent + driver.gravity_torque(case.q), full) < 10 * EXACT_MATHS


@pytest.mark.parametrize('mode', laws.JOINT_MODES)
def test_payload_only_plus_the_law_of_the_bare_robot_is_the_full_law(case, mode):
    """At the same state and commanded acceleration, with any scales."""
    for scales in ({}, case.scales):
        parts = (case.sent(mode, 'payload_only', **scales)
                 + case.sent(mode, 'full', case.bare, **scales))
        assert relative(parts, case.sent(mode, 'full', **scales)) < 10 * EXACT_MATHS


@pytest.mark.parametrize('mode', laws.JOINT_MODES)
def test_payload_only_sends_exactly_zero_without_a_payload(case, mode):
    """Not even rounding."""
    np.testing.assert_array_equal(case.sent(mode, 'payload_only', case.bare, **case.scales), 0.0)


@pytest.mark.parametrize('mode', sorted(laws.WITH_REFERENCE))
def test_the_drivers_share_of_friction_is_not_sent(case, mode):
    """Joint by joint; all of it for the presets that compensate it."""
    friction = case.robot.friction_torque(case.motion.v)
    share = np.linspace(0.0, 1.0, case.robot.nv)
    for compensation, expected in (
            (DriverCompensation('full', driver_friction=share), share * friction),
            (preset('without_gravity_and_friction'), friction + case.robot.gravity_torque(case.q))):
        removed = case.sent(mode, 'full') - case.sent(mode, compensation)
        assert relative(removed, expected) < 10 * EXACT_MATHS


# What that means for an arm ----------------------------------------------------------------------


def test_a_driver_that_compensates_gravity_is_sent_no_gravity(arm):
    """With any gravity scale."""
    for scale in (1.0, 0.7, 0.0):
        controller = Controller(arm.robot, driver_compensation='without_gravity',
                                gravity_scale=scale)
        np.testing.assert_allclose(controller.torque(arm.q), 0.0, atol=EXACT_MATHS)


def test_a_driver_with_the_wrong_gravity_vector_is_corrected(arm):
    """Franka on a wall: the sent torque plus the driver's holds the arm; uncorrected it falls."""
    belief = arm.robot.with_gravity(UPRIGHT).gravity_torque(arm.q)
    rest = np.zeros(arm.robot.nv)

    def falls(compensation):
        sent = Controller(arm.robot, driver_compensation=compensation).holding_torque(arm.q)
        return np.abs(arm.robot.forward_dynamics(arm.q, rest, sent + belief)).max()

    assert falls(preset('without_gravity', driver_gravity=UPRIGHT)) < 1e-9
    assert falls('without_gravity') > 1.0


def test_a_driver_that_holds_the_bare_robot_is_sent_the_payload(arm):
    """Flexiv: the sent torque is the weight of the payloads."""
    held = Controller(arm.robot, driver_compensation='without_bare_gravity').holding_torque(arm.q)
    weight = arm.robot.gravity_torque(arm.q) - arm.bare.gravity_torque(arm.q)
    assert relative(held, weight) < EXACT_MATHS and np.abs(weight).max() > 1.0


@pytest.mark.parametrize('mode', sorted(laws.JOINT_MODES))
@pytest.mark.parametrize('name', PRESETS)
def test_the_holding_torque_is_mode_gravity_in_every_mode(arm, mode, name):
    """The torque of the safe action."""
    wanted = Controller(arm.robot, 'gravity', None, name, 0.9).torque(arm.q)
    controller = Controller(arm.robot, mode, arm.gains, name, 0.9)
    np.testing.assert_array_equal(controller.holding_torque(arm.q), wanted)


# The tables --------------------------------------------------------------------------------------


def test_every_driver_has_a_preset_and_presets_differ():
    """Each cites a source."""
    assert {driver.preset for driver in DRIVERS} <= set(PRESETS)
    assert all(driver.meaning and driver.source for driver in DRIVERS)
    assert len(set(PRESETS.values())) == len(PRESETS)


def test_the_bare_robot_has_no_payloads(arm):
    """Bit for bit as before; one that has none is itself."""
    assert without_payloads(arm.robot).payloads == {}
    assert without_payloads(arm.bare) is arm.bare
    np.testing.assert_array_equal(without_payloads(arm.robot).gravity_torque(arm.q),
                                  arm.bare.gravity_torque(arm.q))


@pytest.mark.parametrize('compensation, message', [
    ('gravity', "no driver preset 'gravity'; expected one of full, without_gravity"),
    (None, 'no driver preset None'), (['full'], 'no driver preset'),
    (DriverCompensation('half'),
     "kind is 'half'; expected one of full, without_gravity, payload_only"),
    (DriverCompensation('full', driver_friction=1.5),
     r'driver_friction is 1.5; .* share of the friction'),
    (DriverCompensation('full', driver_friction=-0.5), r'driver_friction is -0.5; expected zero'),
    (preset('without_gravity', driver_gravity=(0, 0)), r'driver_gravity is \(0, 0\); expected 3'),
    (preset('without_gravity', driver_gravity=(0, 0, np.nan)), r'driver_gravity is .*nan'),
])
def test_bad_compensations_are_refused_by_name(arm, compensation, message):
    """A wrong one is a wrong torque."""
    with pytest.raises(DynamicsError, match=message):
        Controller(arm.robot, driver_compensation=compensation)
