"""Test the sequence of QPs: equal to null spaces without inequalities, and its priorities."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls
from support.priority_stacks import missed, random_levels, random_stack
from support.tolerances import PRIORITY, SOLVED

from dynamics_node.task_space import qp_hierarchy
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.hierarchy import hierarchical_least_squares
from dynamics_node.task_space.qp_hierarchy import Level, hierarchical_qp
from dynamics_node.task_space.tasks import Task

SEEDS = range(30)
BY_MINIMISER = 1e-6  # what SLSQP finds the least square to


@pytest.mark.parametrize('seed', SEEDS)
def test_equals_hierarchical_least_squares(seed):
    """Where nothing is bounded."""
    tasks = random_stack(seed)
    x = hierarchical_least_squares(tasks)
    found = hierarchical_qp([Level(*task) for task in tasks])
    assert found.status == 'solved'
    assert np.abs(found.x - x).max() <= SOLVED * (1.0 + np.abs(x).max())


@pytest.mark.parametrize('seed', SEEDS)
def test_equals_hierarchical_least_squares_with_inactive_bounds(seed):
    """Bounds that the first iterates violate, but that affect no level."""
    tasks = random_stack(seed)
    n = tasks[0][0].shape[1]
    x = hierarchical_least_squares(tasks)
    whole = np.vstack([A for A, _ in tasks])
    _, s, Vt = np.linalg.svd(whole)
    unfelt = Vt[int(np.sum(s > 1e-9)):]
    away = np.full(len(unfelt), 0.5)
    strict = Level(np.zeros((0, n)), np.zeros(0), unfelt, away, away + 1.0)
    found = hierarchical_qp([Level(*task) for task in tasks], strict)
    assert found.status == 'solved'
    assert np.abs(found.x - (x + unfelt.T @ away)).max() <= 1e-8 * (1.0 + np.abs(x).max())


@pytest.mark.parametrize('seed', SEEDS)
def test_a_lower_level_never_changes_a_higher_one(seed):
    """Neither its equalities nor its violations; hard constraints hold."""
    strict, levels = random_levels(seed)
    found = [hierarchical_qp(levels[:k], strict) for k in (1, 2, 3)]
    for k, result in enumerate(found):
        assert result.status == 'solved'
        assert np.abs(strict.A @ result.x).max() <= SOLVED
        assert (np.abs(strict.C @ result.x) <= 1.0 + PRIORITY).all()
        for higher in range(k):
            change = missed(levels[higher], result.x) - missed(levels[higher], found[higher].x)
            assert np.abs(change).max() <= PRIORITY * (1.0 + np.linalg.norm(levels[higher].b))


@pytest.mark.parametrize('seed', range(12))
def test_the_first_level_minimises_its_violation(seed):
    """Against SciPy's SLSQP on the sum of squares."""
    strict, levels = random_levels(seed)
    first = levels[0]
    x = hierarchical_qp([first], strict).x
    limits = [{'type': 'eq', 'fun': lambda y: strict.A @ y},
              {'type': 'ineq', 'fun': lambda y: np.concatenate([1.0 - strict.C @ y,
                                                                1.0 + strict.C @ y])}]
    other = minimize(lambda y: missed(first, y) @ missed(first, y), 0.0 * x, constraints=limits,
                     method='SLSQP', options={'ftol': 1e-13, 'maxiter': 500})
    own = missed(first, x) @ missed(first, x)
    assert own <= other.fun + BY_MINIMISER * (1.0 + other.fun)
    assert other.fun <= own + BY_MINIMISER * (1.0 + own)


def test_contradictory_inequalities_share_the_violation():
    """X <= 0 and x >= 1 of equal weight: one half; a lower level cannot move it."""
    C, limits = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[-np.inf, 1.0], [0.0, np.inf]])
    level = Level(np.zeros((0, 2)), np.zeros(0), C, *limits)
    lower = Level(np.eye(2), np.array([9.0, 7.0]))
    assert np.allclose(hierarchical_qp([level, lower]).x, [0.5, 7.0], atol=1e-9)


def test_contradictory_hard_constraints_are_infeasible():
    """Equalities alone, inequalities alone, and both."""
    one = np.eye(2)
    wanted = [Level(one, np.zeros(2))]
    twice = Level(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1.0, 2.0]))
    crossed = Level(one[:0], np.zeros(0), np.array([[1.0, 0.0], [1.0, 0.0]]),
                    np.array([1.0, -np.inf]), np.array([np.inf, 0.0]))
    both = Level(one[:1], np.ones(1), one[:1], np.array([2.0]), np.array([3.0]))
    for strict in (twice, crossed, both):
        assert hierarchical_qp(wanted, strict).status == 'infeasible'


@pytest.mark.parametrize('scale', [1e-3, 1e-4, 1e-5, 1e-6, 1e-7])
def test_a_level_with_a_small_column_is_solved(scale):
    """The solution of KKT: the slope of the level is a push of the active limits, of their signs.

    Zero keeps all limits, so that there is a solution. Half of these problems failed, with a
    column of 1e-6 nearly all of them.
    """
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A, C = rng.normal(size=(6, 6)), rng.normal(size=(8, 6))
        A[:, 0] *= scale
        limit = rng.uniform(0.1, 1.0, size=8)
        strict = Level(np.zeros((0, 6)), np.zeros(0), C, -limit, limit)
        b = 3.0 * rng.normal(size=6)
        x, status = hierarchical_qp([Level(A, b)], strict)
        assert status == 'solved'
        assert (np.abs(C @ x) <= limit + 1e-9).all()
        at = np.abs(np.abs(C @ x) - limit) < 1e-9
        pushing = C[at].T * np.sign(C[at] @ x)
        slope = A.T @ (b - A @ x)
        assert np.linalg.norm(pushing @ nnls(pushing, slope)[0] - slope) <= 1e-7


@pytest.mark.parametrize('scale', [1e-3, 1e-6])
def test_a_variable_may_have_other_units(scale):
    """One column of all rows scaled: the errors of the level stay the same."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A, C, b = rng.normal(size=(4, 6)), rng.normal(size=(9, 6)), 3.0 * rng.normal(size=4)
        upper = C @ rng.normal(size=6) + rng.uniform(0.1, 1.0, size=9)
        units = np.array([1.0, 1.0, scale, 1.0, 1.0, 1.0])
        plain, scaled = (hierarchical_qp(
            [Level(A * unit, b)], Level(np.zeros((0, 6)), np.zeros(0), C * unit,
                                        np.full(9, -np.inf), upper)) for unit in (1.0, units))
        assert plain.status == scaled.status == 'solved'
        assert np.allclose((A * units) @ scaled.x, A @ plain.x, rtol=0.0, atol=1e-6)


def test_a_distant_limit_of_a_weak_direction_is_reached_in_a_few_rounds(monkeypatch):
    """The second variable relaxes the limit of the first, a little with each step, up to 1000."""
    def no_second_attempt(*_):
        raise AssertionError('the first attempt failed')
    monkeypatch.setattr(qp_hierarchy, '_graded', no_second_attempt)
    must = Level(np.zeros((0, 2)), np.zeros(0), np.array([[1.0, -1e-6], [0.0, 1.0]]),
                 np.full(2, -np.inf), np.array([0.0, 1000.0]))
    x, status = hierarchical_qp([Level(np.array([[1.0, 0.0]]), np.array([10.0]))], must)
    assert status == 'solved'
    assert np.allclose(x, [1e-3, 1000.0], rtol=1e-9, atol=0.0)


def test_soft_limits_of_an_arm_are_solved(arm):
    """A hand and a posture below it; torques of 15 N m are wanted on the level of the hand."""
    rng = np.random.default_rng(0)
    for k in range(40):
        q, v = rng.uniform(-1.5, 1.5, 7), 0.5 * rng.normal(size=7)
        tasks = [Task('hand', 'frame', level=1, frame='tool0', acceleration=tuple(
            5.0 * rng.normal(size=6))), Task('posture', 'posture', level=2 + k % 2,
                                             position=np.zeros(7), stiffness=10.0)]
        found = arm.whole_body(q, v, tasks, bounds=[Bound('torque', limit=15.0, level=1)])
        assert found.status == 'solved'


def test_a_direction_that_a_level_barely_feels_is_not_given_to_lower_levels():
    """Level 2 sees what level 1 leaves at 1e-11 of its norm: too weak to control, but not free."""
    levels = [Level(np.array([[1.0, 0.0]]), np.array([1.0])),
              Level(np.array([[1.0, 1e-11]]), np.array([2.0])),
              Level(np.array([[0.0, 1.0]]), np.array([3.0]))]
    x, status = hierarchical_qp(levels)
    assert status == 'solved'
    assert np.allclose(x, [1.0, 0.0], rtol=0.0, atol=1e-12)


def test_a_level_of_inequalities_without_bounds_is_not_ignored():
    level = Level(np.eye(2), np.ones(2), np.eye(2))
    with pytest.raises(AssertionError, match='both bounds'):
        hierarchical_qp([level])
