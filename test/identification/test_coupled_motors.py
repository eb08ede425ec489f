"""Test motors that move with several joints: their friction, and the residuals without it."""

import numpy as np
import pytest
import yaml
from support.heavier_arm import motion
from support.upper_body import UPPER_BODY

from dynamics_node import Robot
from dynamics_node.errors import DynamicsError
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.identification.friction_file import friction_yaml
from dynamics_node.identification.parameters import (
    parameter_layout,
    parameter_values,
    robot_with_parameters,
)
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.robot_fit import IdentificationOptions, identify
from dynamics_node.identification.transmission import read_transmission
from dynamics_node.ros.identification.jobs import _drive

GEARS = read_transmission({'motors': {
    'waist': {'waist': 40.0}, 'shoulder': {'shoulder': -50.0},
    'elbow': {'shoulder': 30.0, 'elbow': 60.0}}})
JOINT = {'viscous': (0.5, 0.4, 0.2), 'coulomb': (1.0, 0.8, 0.3)}
MOTOR = {'armature': 0.05, 'viscous': 0.6, 'coulomb': 1.5}   # of the elbow, in its units
RATIOS = np.array([0.0, 0.5, 1.0])
NOISE = 0.1    # [N m]


@pytest.fixture(scope='module')
def robot(kernels):
    return Robot.from_urdf(UPPER_BODY)


def sign(robot, v):
    return v / np.sqrt(v * v + robot.model.friction_speed ** 2)


def recording_of(robot, motor, seed=3):
    """Return a Recording of the robot with friction at joints and at a motor of two joints."""
    t, q, v, a = motion(robot.nv, 1500, seed)
    tau = robot.inverse_dynamics(q, v, a)
    tau += v * JOINT['viscous'] + sign(robot, v) * JOINT['coulomb']
    u, rate = v @ RATIOS, a @ RATIOS
    tau += RATIOS * (motor['armature'] * rate + motor['viscous'] * u
                     + motor['coulomb'] * sign(robot, u))[:, None]
    tau += NOISE * np.random.default_rng(seed).normal(size=tau.shape)
    return Recording(robot.joint_names, t, q, v, a, tau)


@pytest.fixture(scope='module')
def recording(robot):
    return recording_of(robot, MOTOR)


@pytest.fixture(scope='module')
def found(robot, recording):
    return identify(robot, recording, IdentificationOptions(transmission=GEARS))


def test_friction_is_found_on_either_side_of_the_transmission(found):
    """Within three standard deviations, which are small."""
    truth = [*JOINT['viscous'], *JOINT['coulomb'], *MOTOR.values()]
    at = np.arange(found.layout.size)
    at = np.concatenate([at[found.layout.each('viscous')], at[found.layout.each('coulomb')],
                         at[found.layout.of_motors]])
    assert found.layout.names[-3:] == ('elbow.motor_armature', 'elbow.motor_viscous',
                                       'elbow.motor_coulomb')
    assert (np.abs(found.values[at] - truth) < 3.0 * found.spread.sigma[at]).all()
    assert (found.spread.sigma[at] < 0.3 * np.abs(truth)).all()
    assert not any('coupled by a gear' in text for text in found.warnings)


def test_the_verdict_judges_the_robot_that_is_applied(robot, recording, found):
    """Not the terms of motors that its model does not have; a warning has both errors."""
    unseen, layout = recording.rows(slice(1200, None)), found.layout
    state = unseen.q, unseen.v, unseen.a
    torque = found.robot.inverse_dynamics(*state) + found.values[layout.each('offset')]
    error = np.sqrt(np.mean((torque - unseen.tau) ** 2, axis=0))
    np.testing.assert_allclose(found.verdict.error, error, rtol=1e-6)
    np.testing.assert_allclose(found.predict(*state, coupled_motors=False), torque)
    assert found.verdict.total_share > 0.1   # with all terms 0.05
    assert not found.verdict.success
    assert any('no friction of coupled motors (elbow)' in text for text in found.verdict.reasons)
    warned = [text for text in found.warnings if 'of the coupled motors (elbow)' in text]
    assert len(warned) == 1
    assert f'held-out samples is {found.verdict.total_share:.1%} of the torque' in warned[0]
    values = found.values.copy()
    values[layout.of_motors] = 0.0   # a robot without any part of the motors errs more
    without = robot_with_parameters(robot, layout, values)
    other = recording_of(robot, MOTOR, seed=9)
    errors = [np.mean((each.inverse_dynamics(other.q, other.v, other.a) - other.tau) ** 2)
              for each in (found.robot, without)]
    assert errors[0] < 0.5 * errors[1]


def test_the_node_gets_the_friction_of_the_judged_robot(found):
    """In the YAML and where a goal applies it."""
    model, layout = found.robot.model, found.layout
    armature, viscous, coulomb = found.values[layout.of_motors]
    np.testing.assert_allclose(model.damping, found.values[layout.each('viscous')]
                               + RATIOS ** 2 * viscous)
    np.testing.assert_allclose(model.friction, found.values[layout.each('coulomb')]
                               + RATIOS * coulomb)
    np.testing.assert_allclose(model.armature, found.values[layout.each('armature')]
                               + RATIOS ** 2 * armature)
    written = yaml.safe_load(friction_yaml(layout, found.values))
    written = written['/**/dynamics_node']['ros__parameters']
    for source in (written, _drive(found)):
        for key, own in (('armature', model.armature), ('damping', model.damping),
                         ('dry_friction', model.friction)):
            assert list(source[key]) == list(layout.joints)
            np.testing.assert_allclose(list(source[key].values()), own, rtol=1e-6, atol=1e-12)


def test_a_prediction_has_the_friction_of_the_motor(robot, found):
    """Of another motion, single states and batches."""
    other = recording_of(robot, MOTOR, seed=8)
    got = found.predict(other.q, other.v, other.a)
    assert np.sqrt(np.mean((got - other.tau) ** 2)) < 1.2 * NOISE
    np.testing.assert_allclose(found.predict(other.q[5], other.v[5], other.a[5]), got[5])
    assert '# "elbow.motor_coulomb": 1.' in friction_yaml(found.layout, found.values)


def test_without_the_transmission_the_coupled_joints_are_named(robot, recording):
    named = [text for text in identify(robot, recording).warnings if 'coupled by a gear' in text]
    assert len(named) == 1
    assert named[0].startswith('shoulder and elbow seem to be coupled')


def test_joints_without_a_coupling_are_not_named(robot):
    found = identify(robot, recording_of(robot, dict.fromkeys(MOTOR, 0.0)))
    assert not any('coupled' in text for text in found.warnings)


def test_wrong_transmissions_are_refused(robot, recording):
    other = read_transmission({'motors': {'wrist': {'wrist': 3.0}}})
    with pytest.raises(DynamicsError, match="has the joint 'wrist'; the robot has waist"):
        identify(robot, recording, IdentificationOptions(transmission=other))
    with pytest.raises(DynamicsError, match='transmission is'):
        identify(robot, recording, IdentificationOptions(transmission={'motors': {}}))


def test_a_robot_with_loops_is_refused():
    bundled = MECHANISMS['four_bar']
    looped = Robot.from_urdf(bundled.urdf, loops=bundled.loops, compile=False)
    gears = read_transmission({'motors': {name: {name: 2.0} for name in looped.joint_names}})
    with pytest.raises(DynamicsError, match='with loops and a transmission is not available'):
        parameter_layout(looped, transmission=gears)


def test_parameters_of_motors_follow_those_of_joints(robot):
    layout = parameter_layout(robot, transmission=GEARS)
    assert layout.size == len(layout.names) == len(layout.units) == 30 + 12 + 3
    assert layout.units[-3:] == ('kg m^2', 'N m s/rad', 'N m')
    assert not parameter_values(robot, layout)[layout.of_motors].any()
    assert set(np.arange(layout.size)[layout.of_motors]) <= set(layout.not_negative)
