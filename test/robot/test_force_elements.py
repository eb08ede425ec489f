"""Test that control, observer, identification and sensors know the springs of a robot."""

import numpy as np
import pytest
from support.differences import relative
from support.public_surface import recordings, two_joints
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot, RobotLink, Spring
from dynamics_node.control.controller import Controller
from dynamics_node.control.gains import Gains
from dynamics_node.control.spline import MotionSample
from dynamics_node.identification.robot_fit import identify
from dynamics_node.observer.effort_meaning import meaning_of
from dynamics_node.observer.momentum import external_torques

FITTED = 1e-6  # the noise of the samples is their rounding
SPRINGS = (Spring('joint', 30.0, 2.0, 0.3, joint='joint_2'),
           Spring('line', 200.0, 5.0, 0.4, frame='tool0', to_point=(0.2, 0.1, 1.5)))


def test_every_mode_holds_the_robot_against_its_springs(arm):
    """At rest, where the reference is, the torques are those of inverse dynamics."""
    sprung, q, still = arm.with_springs(SPRINGS), np.full(7, 0.3), np.zeros(7)
    expected = sprung.inverse_dynamics(q, still, still)
    assert relative(expected, arm.inverse_dynamics(q, still, still)) > 0.1
    for mode in ('gravity', 'computed_torque', 'impedance'):
        controller = Controller(sprung, mode, Gains.per_joint(7, 50.0, 5.0))
        hold = MotionSample(q, still, still)
        assert relative(controller.torque(q, still, hold), expected) < EXACT_MATHS


def test_springs_are_no_external_torque(arm):
    """A motion with springs, which the observer knows or does not know."""
    sprung = arm.with_springs(SPRINGS)
    time = np.linspace(0.0, 0.5, 501)
    phase = np.multiply.outer(time, np.linspace(2.0, 4.0, 7))
    q, v, a = 0.3 * np.sin(phase), (0.3 * np.linspace(2.0, 4.0, 7)) * np.cos(phase), (
        -0.3 * np.linspace(2.0, 4.0, 7) ** 2) * np.sin(phase)
    effort = sprung.inverse_dynamics(q, v, a)
    known, unknown = (np.abs(external_torques(robot, meaning_of(robot, 'motor_torque'), time, q, v,
                                              effort)).max() for robot in (sprung, arm))
    assert known < 0.01 * unknown


def test_identification_subtracts_the_springs():
    """The identified robot, with its springs, has the measured torques."""
    robot, recording = two_joints(), recordings()[1]
    sprung = robot.with_springs([Spring('s', 9.0, 1.0, 0.2, joint='joint_2')])
    measured = recording._replace(
        tau=recording.tau + sprung.spring_torque(recording.q, recording.v))
    found = identify(sprung, measured).robot
    assert found.springs == sprung.springs
    torques = found.inverse_dynamics(recording.q, recording.v, recording.a)
    assert relative(torques, measured.tau) < FITTED
    assert relative(recording.tau, measured.tau) > 0.1


def test_a_sensor_at_a_spring_that_it_cannot_separate_is_refused():
    """The spring ends at the same body, before the sensor."""
    robot = Robot.from_links([
        RobotLink('base'), RobotLink('arm', 'base', 'revolute', mass=1.0, inertia=np.eye(3)),
        RobotLink('hand', 'arm', mass=1.0, inertia=np.eye(3))], compile=False)
    here, there = (robot.with_springs([Spring('s', 5.0, frame=frame, point=(0.1, 0, 0),
                                              to_point=(1, 0, 0))]) for frame in ('arm', 'hand'))
    with pytest.raises(DynamicsError, match="spring 's' ends at 'arm', which is fixed to 'hand'"):
        here.sensor_wrench([0.0], [0.0], [0.0], 'hand')
    pull = there.sensor_wrench([0.0], [0.0], [0.0], 'hand')[0]
    assert pull == pytest.approx(-5.0 * 0.9)  # the sensor balances the spring, which pulls along x


def test_springs_between_links_refuse_derivatives_by_the_geometry(arm):
    """Their length depends on it; a spring at a joint does not."""
    q = np.full(7, 0.2)
    direction = {'dorigins': {'joint_4': [0, 0, 1, 0, 0, 0]}}
    at_joint = arm.with_springs([Spring('balance', stiffness=9.0, joint='joint_2')])
    for name in ('inverse', 'forward'):
        with pytest.raises(DynamicsError, match="the length of the spring 'strut'"):
            getattr(arm.with_springs([Spring('strut', stiffness=9.0, frame='link_4')]),
                    f'{name}_dynamics_directional_derivative')(q, q, q, **direction)
    np.testing.assert_allclose(
        at_joint.inverse_dynamics_directional_derivative(q, q, q, **direction),
        arm.inverse_dynamics_directional_derivative(q, q, q, **direction), atol=1e-12)
