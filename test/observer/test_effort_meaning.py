"""Test the declared meaning of effort: the momentum balance, and refusals with a reason."""

import numpy as np
import pytest
from support.differences import relative
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.observer.effort_meaning import MEANINGS, meaning_of
from dynamics_node.observer.momentum import balance

ROTORS = {f'joint_{k}': 0.1 * k for k in range(1, 8)}
AMPERES = {f'joint_{k}': (-1.0) ** k * 8.0 / k for k in range(1, 8)}  # N m/A


@pytest.fixture
def robot():
    return Robot.from_urdf(ARM7, armature=ROTORS)


@pytest.fixture
def motion(robot):
    rng = np.random.default_rng(3)
    return robot.random_configuration(rng), *rng.normal(size=(2, 7))


def effort_as_published(robot, meaning, q, v, a):
    """Return the effort that a driver of that meaning publishes in this motion."""
    motor = robot.inverse_dynamics(q, v, a)
    links = motor - robot.model.armature * a - robot.friction_torque(v)
    amperes = motor / np.array([AMPERES[name] for name in robot.joint_names])
    return {'output_torque': links, 'motor_torque': motor, 'current': amperes,
            'without_gravity': motor - robot.gravity_torque(q)}[meaning]


@pytest.mark.parametrize('meaning', MEANINGS[1:])
def test_each_meaning_closes_the_balance(robot, motion, meaning):
    """Without external forces dp/dt = inflow, by the matrices: M a + (C + C') v."""
    q, v, a = motion
    declared = meaning_of(robot, meaning, AMPERES if meaning == 'current' else None)
    seen = balance(robot, declared, q, v, effort_as_published(robot, meaning, q, v, a))
    M, C = robot.mass_matrix(q), robot.coriolis_matrix(q, v)
    if not declared.motor_side:
        M = M - np.diag(robot.model.armature)
    assert relative(seen.momentum, M @ v) < EXACT_MATHS
    assert relative(seen.inflow, M @ a + (C + C.T) @ v) < EXACT_MATHS


@pytest.mark.parametrize('wrong', [meaning for meaning in MEANINGS[1:] if meaning != 'current'])
def test_a_wrong_declaration_is_an_apparent_external_torque(robot, motion, wrong):
    """The balance is off by newtons."""
    q, v, a = motion
    right = 'output_torque' if wrong != 'output_torque' else 'motor_torque'
    seen = balance(robot, meaning_of(robot, wrong), q, v,
                   effort_as_published(robot, right, q, v, a))
    M, C = robot.mass_matrix(q), robot.coriolis_matrix(q, v)
    assert np.abs(seen.inflow - M @ a - (C + C.T) @ v).max() > 0.5


def test_the_weight_of_a_suspended_floating_base_is_external():
    """For any meaning of effort."""
    robot = Robot.from_urdf(ARM7, base='floating')
    q, still = robot.random_configuration(1), np.zeros(robot.nv)
    motors = np.where(np.arange(robot.nv) < 6, 0.0, robot.gravity_torque(q))
    seen = [balance(robot, meaning_of(robot, meaning), q, still, effort).inflow
            for meaning, effort in (('motor_torque', motors), ('without_gravity', still))]
    assert np.abs(seen[0][:6]).max() > 100.0
    assert relative(seen[1], seen[0]) < EXACT_MATHS


def test_an_unknown_meaning_is_refused_with_the_reason(robot):
    with pytest.raises(DynamicsError, match='effort_meaning is unknown.*declare it as one of '
                       'output_torque, motor_torque, current, without_gravity'):
        meaning_of(robot, 'unknown')


@pytest.mark.parametrize(('name', 'constants', 'message'), [
    ('torque', None, "effort_meaning is 'torque'; expected one of unknown, output_torque"),
    (['current'], None, 'effort_meaning is'),
    ('current', None, 'torque_constants lack joint_1, joint_2'),
    ('current', {**AMPERES, 'joint_3': 0.0}, r"torque_constants\['joint_3'\] is 0.0"),
    ('current', {**AMPERES, 'joint_3': np.nan}, r"torque_constants\['joint_3'\] is nan"),
    ('current', {**AMPERES, 'elbow': 1.0}, "no joint 'elbow'"),
    ('current', np.ones(7), 'torque_constants is array.* expected a dict such as .*joint_1'),
    ('current', [0.5] * 7, r'torque_constants is \[0.5, .* expected a dict such as'),
    ('current', 0.5, 'torque_constants is 0.5; expected a dict such as'),
    ('current', {**AMPERES, 'joint_3': 'x'}, r"torque_constants\['joint_3'\] is 'x'; expected a"),
    ('current', {**AMPERES, 'joint_3': [1.0, 2.0]}, r"torque_constants\['joint_3'\] is \[1.0, 2"),
    (np.ones(3), AMPERES, 'effort_meaning is array.* expected one of unknown, output_torque'),
    ('motor_torque', AMPERES, "torque_constants are for effort_meaning 'current'"),
], ids=['name', 'list', 'none', 'zero', 'nan', 'joint', 'array', 'row', 'number', 'text', 'pair',
        'names', 'idle'])
def test_invalid_declarations_are_refused(robot, name, constants, message):
    with pytest.raises(DynamicsError, match=message):
        meaning_of(robot, name, constants)
