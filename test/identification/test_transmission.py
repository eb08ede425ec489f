"""Test transmissions: positions, torques and power of motors and joints; errors of the reader."""

import numpy as np
import pytest
from support.tolerances import SOLVED

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.transmission import read_transmission

WRIST = """
motors:
  joint_4: {joint_4: -48.0}
  joint_5: {joint_5: 45.0}
  joint_6: {joint_5: 32.0, joint_6: 32.0}
zeros: {joint_5: 0.5}
"""


@pytest.fixture
def wrist():
    return read_transmission(WRIST)


def test_a_motor_of_a_wrist_turns_with_two_joints(wrist):
    assert wrist.motors == wrist.joints == ('joint_4', 'joint_5', 'joint_6')
    assert wrist.coupled == ('joint_6',)
    np.testing.assert_array_equal(wrist.matrix, [[-48, 0, 0], [0, 45, 0], [0, 32, 32]])
    q = np.array([[0.1, 0.7, -0.3], [1.0, 0.5, 2.0]])
    motor = (q - [0.0, 0.5, 0.0]) @ wrist.matrix.T
    np.testing.assert_allclose(wrist.joint_positions(motor), q, rtol=SOLVED)
    np.testing.assert_allclose(wrist.joint_positions(motor[0]), q[0], rtol=SOLVED)


def test_power_of_motors_is_that_of_joints(wrist):
    speed, torque = np.random.default_rng(1).normal(size=(2, 5, 3))
    power = np.sum(wrist.joint_torques(torque) * wrist.joint_velocities(speed), axis=1)
    np.testing.assert_allclose(power, np.sum(torque * speed, axis=1), rtol=1e-10)


@pytest.mark.parametrize('text, words', [
    ('3', 'expected a map such as motors'),
    ('motors: [1]', 'motors of the transmission is'),
    ('motors: {}', '0 motors and 0 joints'),
    ('motors: {a: {a: 1.0}}\nmotor: 3', "unknown key 'motor'"),
    ('motors: {a: {a: 1.0, b: 1.0}}', '1 motors and 2 joints'),
    ('motors: {a: {a: 1.0, b: 1.0}, b: {a: 2.0, b: 2.0}}', 'singular'),
    ('motors: {a: {a: 0.0}}', 'singular'),
    ('motors: {a: {a: x}}', 'the ratio of a to a'),
    ('motors: {a: 3}', "motor 'a' is 3"),
    ('motors: {a: {a: 1.0}}\nzeros: {b: 1.0}', "zeros names the joint 'b'"),
])
def test_a_wrong_transmission_is_refused_with_a_reason(text, words):
    with pytest.raises(DynamicsError, match=words):
        read_transmission(text)
