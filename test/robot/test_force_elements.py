"""Test that control, observer, identification and sensors know the springs of a robot."""

import numpy as np
import pytest
from support.differences import relative
from support.public_surface import recordings, two_joints
from support.tolerances import EXACT_MATHS

from dynamics_node import Actuator, DynamicsError, Robot, RobotLink, Spring
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


def test_a_line_of_length_zero_is_refused_by_its_name():
    """By every method that needs its direction; the energy needs only its length."""
    robot = Robot.from_links([RobotLink('base'), RobotLink('mass', 'base', 'prismatic', mass=2.0)],
                             compile=False)
    sprung = robot.with_springs([Spring('strut', 9.0, rest=0.5, frame='mass')])
    words = "spring 'strut': both ends meet at this q; a line of length zero"
    for method in (sprung.spring_torque, sprung.joint_reactions, sprung.inverse_dynamics,
                   sprung.forward_dynamics, sprung.inverse_dynamics_derivatives,
                   sprung.inverse_dynamics_directional_derivative):
        for q in ([0.0], [[0.1], [0.0]]):
            with pytest.raises(DynamicsError, match=words):
                method(q, [0.0], *([] if method == sprung.spring_torque else [[0.0]]))
    assert sprung.potential_energy([0.0]) == pytest.approx(0.5 * 9.0 * 0.5 ** 2)
    with pytest.raises(DynamicsError, match="actuator 'rod': both ends meet"):
        robot.actuator_motion([0.0], [0.0], [Actuator('rod', 'mass')])
