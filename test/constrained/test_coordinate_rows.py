"""Test constraints between joint coordinates: expressions, functions, couplings."""

import numpy as np
import pytest
from support.differences import STEP, relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES, SOLVED

from dynamics_node import Constraint, Robot, RobotLink
from dynamics_node.constrained.constraint import holonomic_rows
from dynamics_node.constrained.read_loops import read_constraints, to_yaml
from dynamics_node.errors import DynamicsError

CRANK, ROD = 0.1, 0.35
LINKS = (RobotLink('base'), RobotLink('crank', 'base', 'continuous', mass=1.0, com=(0.02, 0, 0),
                                      inertia=0.01 * np.eye(3)),
         RobotLink('piston', 'base', 'prismatic', axis=(1, 0, 0), mass=0.5))


@pytest.fixture(scope='module')
def engine():
    """A crank that turns and a piston that slides: not connected."""
    return Robot.from_links(LINKS, compile=False)


def slider_crank(q):
    """Return the position of the piston minus that of the connecting rod's end."""
    return q[1] - CRANK * np.cos(q[0]) - np.sqrt(ROD ** 2 - (CRANK * np.sin(q[0])) ** 2)


TEXT = f'q2 - {CRANK} * cos(q1) - sqrt({ROD}**2 - ({CRANK} * sin(q1))**2)'
JOINTS = ('crank_joint', 'piston_joint')


def state(q1, v1):
    """Return (q, v) of the mechanism in motion, from its geometry."""
    root = np.sqrt(ROD ** 2 - (CRANK * np.sin(q1)) ** 2)
    slope = -CRANK * np.sin(q1) - CRANK ** 2 * np.sin(q1) * np.cos(q1) / root
    return np.array([q1, CRANK * np.cos(q1) + root]), np.array([v1, slope * v1])


@pytest.mark.parametrize('expression', [TEXT, slider_crank], ids=['text', 'function'])
def test_an_expression_equals_the_linkage_it_describes(engine, expression):
    """A slider-crank by its formula, and by a rod of constant length between crank and piston."""
    q, v = state(0.7, 3.0)
    rod = Constraint('rod', 'distance', 'crank', 'piston', pose=(CRANK, 0, 0), distance=ROD)
    formula = Constraint('rod', 'expression', joints=JOINTS, expression=expression)
    for each in (rod, formula):
        row = engine.constraint_rows(q, v, [each])
        assert abs(row.residual[0]) < EXACT_MATHS
        assert abs(row.A[0] @ v) < EXACT_MATHS
    one, other = (engine.constrained_forward_dynamics(q, v, [0.3, -0.2], [each]).a
                  for each in (rod, formula))
    assert relative(one, other) < SOLVED


def test_a_sleigh_moves_only_along_its_blade():
    """A planar joint and v_y cos(theta) = v_x sin(theta); on a flat plane both speeds stay."""
    robot = Robot.from_links([RobotLink('base'), RobotLink(
        'sleigh', 'base', 'planar', mass=3.0, inertia=0.2 * np.eye(3))], compile=False)
    blade = [Constraint('blade', 'expression',
                        joints=[f'sleigh_joint.{axis}' for axis in robot_axes(robot)],
                        expression='v2 * cos(q3) - v1 * sin(q3)')]
    speed, turning, angle = 1.3, 0.8, 0.5
    v = np.array([speed * np.cos(angle), speed * np.sin(angle), turning])
    found = robot.constrained_forward_dynamics([0.1, 0.2, angle], v, np.zeros(3), blade)
    centripetal = speed * turning * np.array([-np.sin(angle), np.cos(angle), 0.0])
    assert relative(found.a, centripetal) < SOLVED
    assert robot.constraint_rows([0.1, 0.2, angle], v, blade).residual == 0.0


def robot_axes(robot):
    return [name.split('.')[1] for name in robot.dof_names]


def test_an_expression_equals_the_coupling_it_describes(engine):
    """Gears, belts and screws between joints are couplings."""
    coupling = Constraint('c', 'coupling', joints=JOINTS, ratio=-2.5, offset=0.1)
    text = Constraint('c', 'expression', joints=JOINTS, expression='q1 + 2.5 * q2 - 0.1')
    q, v = np.array([0.3, 0.4]), np.array([1.0, -2.0])
    for one, other in zip(*(engine.constraint_rows(q, v, [each]) for each in (coupling, text))):
        assert relative(one, other) < EXACT_MATHS


def test_expressions_are_written_and_read_as_yaml():
    """A function is refused: it is no data."""
    text = Constraint('rod', 'expression', joints=JOINTS, expression=TEXT)
    assert read_constraints(to_yaml([text])) == (text,)
    with pytest.raises(DynamicsError, match="'rod': expression is a Python function; expected a"):
        to_yaml([Constraint('rod', 'expression', joints=JOINTS, expression=slider_crank)])


def test_an_expression_of_an_unknown_or_floating_joint_is_refused(engine):
    """The message lists the coordinates."""
    with pytest.raises(DynamicsError, match="has 'x', which is unknown, .* crank_joint, piston"):
        engine.constraint_rows([0, 0], [0, 0], [
            Constraint('e', 'expression', joints=['x'], expression='q1')])
    floating = Robot.from_links([RobotLink('base', mass=1.0, inertia=np.eye(3))], base='floating',
                                compile=False)
    with pytest.raises(DynamicsError, match='expected some of: none'):
        floating.constraint_rows(floating.neutral(), np.zeros(6), [
            Constraint('e', 'expression', joints=[floating.joint_names[0]], expression='q1')])


@pytest.mark.parametrize('expression', ['sin(q1) - sin(q2)', 'q1 - 2 * q2', 'v1 - 2 * v2',
                                        'cos(q1) * v2 - q2 * q1 * v1', 'q1 * q1 * q2 - 0.3 / q2'])
def test_derivatives_with_an_expression_are_those_of_differences(arm, expression):
    """Of forward dynamics by q and v: they contain the second derivatives of the expression."""
    q, v, tau = np.random.default_rng(3).uniform(0.2, 0.6, (3, 7))
    constraints = [Constraint('c', 'expression', joints=('joint_1', 'joint_3'),
                              expression=expression)]
    found = arm.constrained_forward_dynamics_derivatives(q, v, tau, constraints)

    def slope(at):
        return np.array([at(STEP * unit) - at(-STEP * unit) for unit in np.eye(7)]).T / (2.0 * STEP)
    by_q = slope(lambda d: arm.constrained_forward_dynamics(q + d, v, tau, constraints).a)
    by_v = slope(lambda d: arm.constrained_forward_dynamics(q, v + d, tau, constraints).a)
    assert relative(found.dq, by_q) < RATE_BY_DIFFERENCES
    assert relative(found.dv, by_v) < RATE_BY_DIFFERENCES


@pytest.mark.parametrize('text', ['-' * 60 + 'q1', '+'.join(['q1'] * 102), '(q1 - q2)**8' * 1 + (
    ' + (q1 + q2)**8' * 12), 'q1**q2', "q1**'a'", 'sqrt(v1 * v1) - v2', 'sqrt(0 - v1) - v2',
    'v1 * v2', 'v1 - v2 + 1'])
def test_an_expression_that_costs_too_much_or_is_not_linear_in_v_is_refused(text):
    """On reading: it comes from any client."""
    with pytest.raises(DynamicsError, match="^constraint 'c': expression is .*; expected "):
        Constraint('c', 'expression', joints=('a', 'b'), expression=text)


def test_rows_that_restrict_velocities_alone_are_known():
    joints = ('a', 'b')
    assert holonomic_rows([
        Constraint('wheel', 'rolling_wheel', 'wheel', radius=0.1),
        Constraint('f', 'expression', joints=joints, expression='q1 - sin(q2)'),
        Constraint('g', 'expression', joints=joints, expression='v1 - q1 * v2'),
        Constraint('gear', 'coupling', joints=joints, ratio=2.0)]).tolist() == [
            False, False, True, True, False, True]


def test_arguments_with_defaults_are_no_velocities(arm):
    """A function f(q, ratio=2.0) is one of positions."""
    def gear(q, ratio=2.0):
        return q[0] - ratio * q[1]
    joints, q = ('joint_1', 'joint_3'), np.full(7, 0.3)
    given = [Constraint('c', 'expression', joints=joints, expression=each)
             for each in (gear, 'q1 - 2 * q2')]
    found, expected = (arm.constraint_rows(q, q, [each]) for each in given)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, atol=1e-14)
