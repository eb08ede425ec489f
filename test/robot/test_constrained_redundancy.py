"""Test the choice of redundant torques in constrained hybrid dynamics."""

import re

import numpy as np
import pytest
from scipy.optimize import minimize
from support.bundled_mechanisms import standing
from support.differences import relative
from support.tolerances import SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import MECHANISMS

# five-bar: two rows, one joint of given torque: one torque of the other three is free to choose
GIVEN = np.array([True, True, True, False])
WEIGHTS = (np.array([1.0, 2.0, 0.5, 3.0]), np.array([0.1, 0.4]))


@pytest.fixture
def five_bar():
    bundled = MECHANISMS['five_bar']
    return Robot.from_urdf(bundled.urdf, loops=bundled.loops)


def motion_of(robot, seed=5):
    """Return (q, v, a, tau) that keeps the loops."""
    q, v, tau = standing(robot.model, robot.loops.constraints, seed)
    return q, v, robot.constrained_forward_dynamics(q, v, tau).a, tau


@pytest.mark.parametrize(('choice', 'weights'), [
    ('least_force', None), ('least_torque', None), ('weighted', None), ('weighted', WEIGHTS),
    ('least_force', (None, WEIGHTS[1])), ('least_torque', (WEIGHTS[0], None))])
def test_the_choice_is_that_of_inverse_dynamics_with_the_given_joints_active(
        five_bar, choice, weights):
    """Kim 2012, end of section 3.3: eq. 61 with u in place of a, and v in place of p."""
    q, v, a, tau = motion_of(five_bar)
    found = five_bar.constrained_hybrid_dynamics(q, v, a, tau, GIVEN, choice=choice,
                                                 weights=weights)
    passive = [name for name, given in zip(five_bar.joint_names, GIVEN) if not given]
    want = five_bar.constrained_inverse_dynamics(q, v, a, passive=passive, passive_torques=tau,
                                                 choice=choice, weights=weights)
    for field in ('a', 'tau', 'multipliers'):
        assert relative(getattr(found, field), getattr(want, field)) < SOLVED


def test_the_least_torques_are_least(five_bar):
    """Among all torques of the same motion, found by a general optimiser."""
    q, v, a, tau = motion_of(five_bar)
    found = five_bar.constrained_hybrid_dynamics(q, v, a, tau, GIVEN, choice='least_torque')
    other = five_bar.constrained_hybrid_dynamics(q, v, a, tau, GIVEN)
    A = five_bar.constraint_rows(q, v).A
    internal = np.linalg.svd(A[:, ~GIVEN].T)[2][-1]  # a multiplier that leaves joint 4 without load
    step = A[:, GIVEN].T @ internal
    best = minimize(lambda x: np.sum((other.tau[GIVEN] - x[0] * step) ** 2), [0.0])
    assert np.sum(found.tau[GIVEN] ** 2) <= best.fun * (1.0 + SOLVED)
    assert np.sum(other.tau[GIVEN] ** 2) > 1.01 * best.fun


def test_without_redundancy_the_choice_has_no_effect(five_bar):
    """Two joints given: the torques are unique."""
    q, v, a, tau = motion_of(five_bar)
    given = np.array([True, False, True, False])
    plain = five_bar.constrained_hybrid_dynamics(q, v, a, tau, given)
    for choice in ('least_torque', 'weighted', 'unique'):
        found = five_bar.constrained_hybrid_dynamics(q, v, a, tau, given, choice=choice)
        assert relative(found.tau, plain.tau) < SOLVED


def test_batches_wrenches_and_stabilisation_are_taken(five_bar):
    """As single states, one after the other."""
    q, v, a, tau = map(np.array, zip(*(motion_of(five_bar, seed) for seed in range(3))))
    wrenches = {'left_fore': np.array([1.0, 0.0, 2.0, 0.0, 0.3, 0.0])}
    options = {'wrenches': wrenches, 'stabilisation': (2.0, 2.0), 'choice': 'least_torque'}
    given = np.array([True, False, False, False])
    batch = five_bar.constrained_hybrid_dynamics(q, v, a, tau, given, **options)
    for k in range(3):
        one = five_bar.constrained_hybrid_dynamics(q[k], v[k], a[k], tau[k], given, **options)
        for many, single in zip(batch, one, strict=True):
            assert np.array_equal(many[k], single)
    plain = five_bar.constrained_hybrid_dynamics(q, v, a, tau, given, wrenches=wrenches,
                                                 stabilisation=(2.0, 2.0))
    assert relative(batch.a, plain.a) < SOLVED


@pytest.mark.parametrize(('options', 'message'), [
    ({'choice': 'best'}, "choice is 'best'; expected one of least_force, least_torque"),
    ({'choice': 'unique'}, 'the torques of the prescribed joints are not unique'),
    ({'weights': [1, 2, 3]}, 'weights is [1, 2, 3]; expected a pair'),
    ({'weights': ([1.0], None)}, 'weights[0] must have shape (4,)'),
    ({'weights': (None, [1.0, -1.0])}, 'weights[1][1] is -1.0; no weight may be below zero')])
def test_invalid_choices_are_refused(five_bar, options, message):
    """By name."""
    with pytest.raises(DynamicsError, match=re.escape(message)):
        five_bar.constrained_hybrid_dynamics(*motion_of(five_bar), GIVEN, **options)
