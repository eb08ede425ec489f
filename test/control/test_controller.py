"""Test the controller: arguments are checked, torques are finite, the robot may change."""

import numpy as np
import pytest
from support.differences import relative
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot
from dynamics_node.control import laws
from dynamics_node.control.controller import Controller
from dynamics_node.control.driver_compensation import PRESETS
from dynamics_node.control.gains import Gains
from dynamics_node.control.spline import MotionSample
from dynamics_node.control.torque_terms import TorqueTerms
from dynamics_node.example_robots import ARM7

NAN = float('nan')
ZEROS = np.zeros(7)
STILL = MotionSample(ZEROS, ZEROS, ZEROS)
GAINS = Gains.per_joint(7, 100.0, 20.0)
PENDULUM = """<robot name="pendulum"><link name="base"/><link name="rod"><inertial>
    <origin xyz="0.3 0 0"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0"
    iyz="0"/></inertial></link><joint name="hinge" type="continuous"><parent link="base"/>
    <child link="rod"/><axis xyz="0 1 0"/><dynamics damping="0.3" friction="0.2"/></joint></robot>
    """


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(ARM7)


def with_entry(vector, value):
    return np.append(vector[:-1], value)


def test_the_torque_is_that_of_the_law(arm):
    """Also with lists as arguments."""
    rng = np.random.default_rng(0)
    q, v, *motion = rng.normal(size=(5, 7))
    for mode, law in laws.JOINT_MODES.items():
        tau = Controller(arm, mode, GAINS).torque(q.tolist(), v.tolist(), MotionSample(*motion))
        np.testing.assert_array_equal(
            tau, law(TorqueTerms(arm), q, v, MotionSample(*motion), GAINS))


def test_mode_gravity_depends_on_q_alone(arm):
    """Some drivers measure no velocity."""
    controller = Controller(arm)
    assert not controller.needs_reference
    np.testing.assert_array_equal(controller.torque(ZEROS, ZEROS * NAN), arm.gravity_torque(ZEROS))


@pytest.mark.parametrize('mode', laws.JOINT_MODES)
def test_another_robot_gets_the_same_settings(arm, mode):
    """As when a payload is set; the first controller is unchanged."""
    loaded = arm.with_payload('box', arm.frame_names[-1], 2.0)
    for name in PRESETS:
        settings = mode, GAINS, name, 0.9, 0.8
        first = Controller(arm, *settings)
        before = first.torque(ZEROS, ZEROS, STILL)
        again = first.for_robot(loaded).torque(ZEROS, ZEROS, STILL)
        np.testing.assert_array_equal(
            again, Controller(loaded, *settings).torque(ZEROS, ZEROS, STILL))
        np.testing.assert_array_equal(first.torque(ZEROS, ZEROS, STILL), before)


@pytest.mark.parametrize('mode', sorted(laws.WITH_REFERENCE))
@pytest.mark.parametrize('q, v, motion, message', [
    (ZEROS[:6], ZEROS, STILL, r'q must have shape \(7,\), got \(6,\)'),
    (ZEROS, [0.0], STILL, r'v must have shape \(7,\), got \(1,\)'),
    (ZEROS, 0.0, STILL, r'v must have shape \(7,\), got \(\)'),
    (ZEROS, ['fast'] * 7, STILL, r'v must hold real numbers'),
    (ZEROS, ZEROS, MotionSample(ZEROS[:1], ZEROS, ZEROS),
     r'motion.q must have shape \(7,\), got \(1,\)'),
    (ZEROS, ZEROS, MotionSample(ZEROS, 0.0, ZEROS), r'motion.v must have shape \(7,\), got \(\)'),
    (ZEROS, ZEROS, MotionSample(ZEROS, ZEROS, [ZEROS]), r'motion.a must have shape \(7,\)'),
    (ZEROS, None, STILL, r'needs v and the reference'),
    (ZEROS, ZEROS, None, r'needs v and the reference'),
])
def test_missing_or_wrong_sized_arguments_are_refused(arm, mode, q, v, motion, message):
    """One number must not be broadcast to all joints."""
    with pytest.raises(DynamicsError, match=message):
        Controller(arm, mode, GAINS).torque(q, v, motion)


@pytest.mark.parametrize('mode', laws.JOINT_MODES)
@pytest.mark.parametrize('value', [NAN, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize('place', range(5))
def test_a_state_that_is_not_finite_is_refused(arm, mode, value, place):
    """Any entry of q, v or the reference, also one that the law ignores."""
    state = [ZEROS] * 5
    state[place] = with_entry(ZEROS, value)
    for name in ('full', 'without_gravity', 'payload_only'):
        controller = Controller(arm, mode, GAINS, name)
        try:
            tau = controller.torque(state[0], state[1], MotionSample(*state[2:]))
        except DynamicsError:
            continue
        assert tau.shape == (7,) and np.isfinite(tau).all()


@pytest.mark.parametrize('arguments, message', [
    (('floating',), "no torque mode 'floating'; expected one of gravity, feedforward"),
    ((None,), 'no torque mode None'),
    (('impedance',), 'mode impedance needs gains'),
    (('computed_torque', Gains.per_joint(6, 1.0, 1.0)), 'gains are for 6 joints; the robot has 7'),
    (('gravity', None, 'full', [1.0]), 'gravity_scale must have shape'),
    (('gravity', None, 'full', 1.0, -1.0), 'friction_scale is -1.0'),
])
def test_bad_settings_are_refused_by_name(arm, arguments, message):
    """Before anything moves."""
    with pytest.raises(DynamicsError, match=message):
        Controller(arm, *arguments)


def test_the_compiled_controller_gives_the_same_torques(monkeypatch, tmp_path):
    """Every mode under every compensation, with and without scales."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path))
    load = 'box', 'rod', 2.0, (1.0, 1.0, 0.0)
    slow, fast = (Robot.from_urdf(PENDULUM, compile=compile).with_payload(*load)
                  for compile in (False, True))
    gains = Gains.per_joint(1, 100.0, 20.0)
    q, v, *motion = np.random.default_rng(0).normal(size=(5, 1))
    for mode in laws.JOINT_MODES:
        for name in PRESETS:
            for scale in (1.0, 0.9):
                both = [Controller(robot, mode, gains, name, scale, scale)
                        for robot in (slow, fast)]
                both[1].compile(wait=True)
                one, other = (controller.torque(q, v, MotionSample(*motion)) for controller in both)
                assert relative(one, other) < 10 * EXACT_MATHS
    assert all(robot.compiled for robot in both[1]._terms.robots)
