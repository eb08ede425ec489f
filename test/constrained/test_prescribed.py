"""Test constraints that follow a prescribed motion."""

import numpy as np
import pytest
from support import looped_trees, random_trees
from support.differences import relative
from support.tolerances import SOLVED

from dynamics_node import Constraint, DynamicsError, Robot, RobotLink
from dynamics_node.constrained.prescribed import RowMotion


@pytest.fixture(params=range(4), scope='module')
def looped(request):
    """A tree with closed loops or contacts, in motion."""
    return looped_trees.make(random_trees.TREES[request.param], looped_trees.KINDS[request.param])


def test_rows_accelerate_as_prescribed_and_the_equation_of_motion_holds(looped):
    """A a + gamma = s'' and M a + b = tau + A' lambda; stabilised, with the error to s and s'."""
    robot, q, v, tau = looped.robot, looped.q, looped.v, looped.tau
    row = robot.constraint_rows(q, v, looped.constraints)
    motion = RowMotion(*looped.rng.normal(size=(3, len(row.A))))
    plain = robot.prescribed_forward_dynamics(q, v, tau, motion, looped.constraints)
    assert relative(row.A @ plain.a + row.gamma, motion.acceleration) < SOLVED
    assert relative(robot.inverse_dynamics(q, v, plain.a),
                    tau + row.A.T @ plain.multipliers) < SOLVED
    alpha, beta = 3.0, 4.0
    led = robot.prescribed_forward_dynamics(q, v, tau, motion, looped.constraints,
                                            stabilisation=(alpha, beta))
    expected = (motion.acceleration - 2 * alpha * (row.A @ v - motion.velocity)
                - beta ** 2 * (row.residual - motion.position))
    assert relative(row.A @ led.a + row.gamma, expected) < SOLVED


def test_a_prescribed_joint_equals_hybrid_dynamics(arm):
    """An expression of one coordinate, and the same acceleration given; for a batch too."""
    q, v, tau = np.random.default_rng(0).normal(size=(3, 4, 7))
    joint = [Constraint('drive', 'expression', joints=['joint_3'], expression='q1')]
    given = np.arange(7) == 2
    a, torque = arm.hybrid_dynamics(q, v, np.full(7, 1.7), tau, given)
    found = arm.prescribed_forward_dynamics(q, v, tau, ([0.0], [0.0], [1.7]), joint)
    assert relative(found.a, a) < SOLVED
    assert relative(found.tau[:, 2] + found.multipliers[:, 0], torque[:, 2]) < SOLVED


def test_a_rod_that_changes_its_length_is_followed():
    """A pendulum on a rod, a distance to the pivot, whose length is a function of time.

    Closed form: L theta'' + 2 L' theta' + g sin(theta) = 0.
    """
    robot = Robot.from_links([
        RobotLink('base'), RobotLink('slide', 'base', 'prismatic', axis=(1, 0, 0)),
        RobotLink('bob', 'slide', 'prismatic', axis=(0, 0, 1), mass=2.0)], compile=False)
    rod = [Constraint('rod', 'expression', joints=['slide_joint', 'bob_joint'],
                      expression='sqrt(q1**2 + q2**2)')]

    def length(t):
        return RowMotion([1.0 - 0.2 * np.sin(3 * t)], [-0.6 * np.cos(3 * t)],
                         [1.8 * np.sin(3 * t)])

    def angular(t, state):
        (L,), (dL,), _ = length(t)
        return np.array([state[1], -(2 * dL * state[1] + 9.81 * np.sin(state[0])) / L])
    theta, t, h = np.array([0.5, 0.0]), 0.0, 0.005
    for _ in range(60):  # the same method on the closed form
        k1 = angular(t, theta)
        k2 = angular(t + h / 2, theta + h / 2 * k1)
        k3 = angular(t + h / 2, theta + h / 2 * k2)
        theta, t = theta + h / 6 * (k1 + 2 * k2 + 2 * k3 + angular(t + h, theta + h * k3)), t + h
    start = np.array([np.sin(0.5), -np.cos(0.5)])
    motion = robot.simulate(start, -0.6 * start, np.zeros(2), [0.0, 0.3], constraints=rod, step=h,
                            row_motion=length)
    (L,), *_ = length(0.3)
    assert relative(motion.q[-1], L * np.array([np.sin(theta[0]), -np.cos(theta[0])])) < 1e-7


@pytest.mark.parametrize(('motion', 'words'), [
    (3.0, "motion is 3.0; expected (s, s', s'') of the rows"),
    (([0.0], [0.0]), 'expected (s, s'), (([0.0], [0.0], [0.0, 1.0]), 'motion.acceleration'),
    (([0.0], [np.nan], [0.0]), 'motion.velocity'), ((np.zeros((3, 1)), [0.0], [0.0]), 'batches'),
])
def test_another_motion_is_refused(arm, motion, words):
    """By name."""
    q = np.zeros((2, 7))
    joint = [Constraint('drive', 'expression', joints=['joint_3'], expression='q1')]
    with pytest.raises(DynamicsError) as refusal:
        arm.prescribed_forward_dynamics(q, q, q, motion, joint)
    assert words in str(refusal.value)
