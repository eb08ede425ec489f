"""Test mode task_space of the Controller: the torque sent to each kind of driver, and refusals."""

import re

import numpy as np
import pytest
from support.differences import relative
from support.task_references import aim
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot
from dynamics_node.control.controller import Controller
from dynamics_node.control.driver_compensation import PRESETS, DriverCompensation, preset
from dynamics_node.control.gains import Gains, TaskGains
from dynamics_node.control.spline import MotionSample
from dynamics_node.control.task_laws import task_space
from dynamics_node.control.torque_terms import TorqueTerms
from dynamics_node.example_robots import ARM7, MECHANISMS
from dynamics_node.model.urdf_text import urdf_text

INERTIA = np.diag([0.02, 0.03, 0.04])
BENT = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])
PRESSING = (False, False, True, False, False, False)
LAWS = [('impedance', (400.0, 30.0)), ('motion', [80.0])]
NAN = float('nan')


class Case:
    """The arm, with and without payloads, in a state, with a motion and a force reference."""

    def __init__(self, bare, law, stiffness):
        rng = np.random.default_rng(0)
        self.bare = bare
        self.robot = bare.with_payload('tool', 'tool0', 1.5, (0.1, 0, 0.05), INERTIA)
        self.robot = self.robot.with_payload('box', 'link_5', 0.7, (0, 0.2, 0))
        self.q, self.v = BENT, rng.normal(size=7)
        self.motion = aim(bare, BENT, 'tool0', rng, PRESSING)
        self.gains = TaskGains.of(7, law, stiffness, kp=rng.uniform(1, 9, 7), kd=2.0)
        self.scales = dict(zip(('gravity_scale', 'friction_scale'), rng.uniform(0.5, 1.5, (2, 7))))

    def sent(self, compensation, robot=None, **scales):
        controller = Controller(robot or self.robot, 'task_space', self.gains, compensation,
                                **scales)
        return controller.torque(self.q, self.v, self.motion)


@pytest.fixture(params=LAWS, ids=[law for law, _ in LAWS])
def case(request):
    """Without joint speed limits: the law is exact."""
    text = re.sub('velocity="[^"]*"', 'velocity="0"', urdf_text(ARM7))
    return Case(Robot.from_urdf(text), *request.param)


# What is sent ------------------------------------------------------------------------------------


def test_the_torque_is_that_of_the_law(case):
    """Also with lists; another robot gets the same settings."""
    controller = Controller(case.bare, 'task_space', case.gains)
    tau = controller.torque(case.q.tolist(), case.v.tolist(), case.motion)
    np.testing.assert_array_equal(
        tau, task_space(TorqueTerms(case.bare), case.q, case.v, case.motion, case.gains))
    again = controller.for_robot(case.robot).torque(case.q, case.v, case.motion)
    np.testing.assert_array_equal(again, case.sent('full'))
    assert np.abs(again - tau).max() > 1.0


@pytest.mark.parametrize('name, known', [('without_gravity', 'robot'),
                                         ('without_bare_gravity', 'bare')])
def test_the_sent_torque_plus_the_drivers_gravity_is_the_full_law(case, name, known):
    """Gravity of the driver's own model and gravity vector."""
    full, driver = case.sent('full'), getattr(case, known)
    assert relative(case.sent(name) + driver.gravity_torque(case.q), full) < 10 * EXACT_MATHS
    sent = case.sent(preset(name, driver_gravity=(1.0, 2.0, -3.0)))
    belief = driver.with_gravity((1.0, 2.0, -3.0)).gravity_torque(case.q)
    assert relative(sent + belief, full) < 10 * EXACT_MATHS
    assert np.abs(belief).max() > 1.0


def test_payload_only_plus_the_law_of_the_bare_robot_is_the_full_law(case):
    """With any scales; the driver itself exerts the wrench then, as it does the springs."""
    for scales in ({}, case.scales):
        parts = case.sent('payload_only', **scales) + case.sent('full', case.bare, **scales)
        assert relative(parts, case.sent('full', **scales)) < 10 * EXACT_MATHS
    pushing = case.motion.reference._replace(wrench=3.0 * case.motion.reference.wrench)
    before, case.motion = case.sent('payload_only'), case.motion._replace(reference=pushing)
    assert relative(case.sent('payload_only'), before) < 10 * EXACT_MATHS


def test_payload_only_sends_exactly_zero_without_a_payload(case):
    """Not even rounding."""
    np.testing.assert_array_equal(case.sent('payload_only', case.bare, **case.scales), 0.0)


def test_the_drivers_share_of_friction_is_not_sent(case):
    """Joint by joint, at the velocity of the reference."""
    wanted = case.robot.operational_space(case.q, case.v, 'tool0').consistent_inverse
    friction = case.robot.friction_torque(wanted @ case.motion.pose_motion.twist)
    share = np.linspace(0.0, 1.0, 7)
    removed = case.sent('full') - case.sent(DriverCompensation('full', driver_friction=share))
    assert relative(removed, share * friction) < 100 * EXACT_MATHS and np.abs(friction).max() > 0.1


@pytest.mark.parametrize('name', PRESETS)
def test_the_holding_torque_is_mode_gravity(case, name):
    """The torque of the safe action."""
    wanted = Controller(case.robot, 'gravity', None, name, 0.9).torque(case.q)
    controller = Controller(case.robot, 'task_space', case.gains, name, 0.9)
    np.testing.assert_array_equal(controller.holding_torque(case.q), wanted)


# What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize('name', MECHANISMS)
def test_a_robot_with_loops_is_refused(name):
    """The message names the mode; without loops and floating joints the robot is accepted."""
    urdf, loops = MECHANISMS[name].urdf, MECHANISMS[name].loops
    robot = Robot.from_urdf(urdf, loops=loops)
    gains = TaskGains.of(robot.nv)
    with pytest.raises(DynamicsError, match='task_space is for robots without loops'):
        Controller(robot, 'task_space', gains)
    opened = robot.with_loops(None)
    if opened.nq == opened.nv:
        assert Controller(opened, 'task_space', gains).mode == 'task_space'
    else:
        with pytest.raises(DynamicsError, match='without floating joints'):
            Controller(opened, 'task_space', gains)


@pytest.mark.parametrize('gains, message', [
    (None, 'task_space needs TaskGains'), (Gains.per_joint(7, 1.0, 1.0), 'needs TaskGains'),
    (TaskGains.of(6), 'the gains are for 6 joints; the robot has 7')])
def test_gains_of_other_modes_are_refused(arm, gains, message):
    with pytest.raises(DynamicsError, match=message):
        Controller(arm, 'task_space', gains)


@pytest.mark.parametrize('changes, message', [
    ({'q': BENT[:6]}, r'q must have shape \(7,\), got \(6,\)'),
    ({'v': [0.0]}, r'v must have shape \(7,\), got \(1,\)'),
    ({'v': None}, "needs v and the reference's motion"),
    ({'motion': None}, "needs v and the reference's motion"),
    ({'motion': MotionSample(BENT, BENT, BENT)},
     'motion is a MotionSample; mode task_space needs a TaskM')])
def test_missing_or_wrong_arguments_are_refused(case, changes, message):
    controller = Controller(case.robot, 'task_space', case.gains)
    with pytest.raises(DynamicsError, match=message):
        controller.torque(**{'q': case.q, 'v': case.v, 'motion': case.motion, **changes})


@pytest.mark.parametrize('value', [NAN, np.inf, -np.inf, 1e300])
def test_a_state_or_reference_that_is_not_finite_is_refused(case, value):
    """Any entry: no other error, no warning."""
    def spoilt(array):
        array = np.array(array)
        array.flat[1] = value
        return array
    motion, moving = case.motion, case.motion.pose_motion
    bad = [(spoilt(case.q), case.v, motion), (case.q, spoilt(case.v), motion),
           (case.q, case.v, motion._replace(posture=spoilt(motion.posture)))]
    bad += [(case.q, case.v, motion._replace(pose_motion=moving._replace(**{name: spoilt(part)})))
            for name, part in moving._asdict().items()]
    refused = 0
    for compensation in ('full', 'without_gravity', 'payload_only'):
        controller = Controller(case.robot, 'task_space', case.gains, compensation)
        for asked in bad:
            try:
                tau = controller.torque(*asked)
            except DynamicsError:
                refused += 1
                continue
            assert tau.shape == (7,) and np.isfinite(tau).all()
    assert refused == 3 * len(bad) if not np.isfinite(value) else refused > 0
