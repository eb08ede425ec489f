"""Test the interface to the QP solver against the conditions of a minimum."""

import builtins

import numpy as np
import pytest
from support.tolerances import SOLVED

from dynamics_node.errors import DynamicsError
from dynamics_node.task_space.qp import solve_qp

TINY = 1e-9   # of the KKT conditions, in their own units: numbers here are about 1


def problem(seed):
    """Return a strictly convex QP with a point inside, its limits in part at that point."""
    rng = np.random.default_rng(seed)
    n, m, p = int(rng.integers(2, 15)), int(rng.integers(1, 25)), int(rng.integers(0, 3))
    B, x = rng.normal(size=(n, n)), rng.normal(size=n)
    G, A = rng.normal(size=(m, n)), rng.normal(size=(min(p, n - 1), n))
    width = rng.uniform(0.1, 1.0, size=(2, m))
    lower = np.where(rng.random(m) < 0.3, -np.inf, G @ x - width[0])
    return {'P': B.T @ B + 0.1 * np.eye(n), 'q': 3.0 * rng.normal(size=n), 'G': G, 'lower': lower,
            'upper': G @ x + width[1], 'lb': np.minimum(x, -0.5), 'ub': np.maximum(x, 0.5),
            'A': A, 'b': A @ x}


@pytest.mark.parametrize('seed', range(40))
def test_solutions_satisfy_the_kkt_conditions(seed):
    """Written out: balance, limits, signs and complementarity."""
    given = problem(seed)
    P, q, G, lower, upper, lb, ub, A, b = given.values()
    x, status, rows, bounds, equalities, residual, gaps = solve_qp(**given)
    assert status == 'solved' and residual < TINY
    assert np.abs(P @ x + q + G.T @ rows + bounds + A.T @ equalities).max() < TINY
    assert np.abs(A @ x - b).max(initial=0.0) < TINY
    for low, where, high, push in ((lower, G @ x, upper, rows), (lb, x, ub, bounds)):
        assert (where >= low - TINY).all() and (where <= high + TINY).all()
        assert (np.where(push > 0.0, high - where, 0.0) < TINY).all()
        assert (np.where(push < 0.0, where - low, 0.0) < TINY).all()


@pytest.mark.parametrize('without', [(), ('A', 'b', 'lb', 'ub'), ('G', 'lower', 'upper')])
def test_arrays_may_be_read_only_or_not_contiguous(without):
    """As broadcast results and transposes are; daqp itself refuses them."""
    given = {name: each for name, each in problem(1).items() if name not in without}
    strange = {name: np.asfortranarray(each) for name, each in given.items()}
    for each in strange.values():
        each.flags.writeable = False
    assert np.array_equal(solve_qp(**strange).x, solve_qp(**given).x)


def test_most_test_problems_have_active_limits():
    """Else the test above says little."""
    found = [solve_qp(**problem(seed)) for seed in range(40)]
    assert sum(bool(result.rows.any()) for result in found) > 30


@pytest.mark.parametrize('seed', range(10))
def test_without_inequalities_the_solution_is_a_linear_solve(seed):
    """The KKT matrix."""
    given = problem(seed)
    P, q, A, b = (given[name] for name in 'PqAb')
    n, p = len(q), len(b)
    K = np.block([[P, A.T], [A, np.zeros((p, p))]])
    both = np.linalg.solve(K, np.concatenate([-q, b]))
    found = solve_qp(P, q, A=A, b=b)
    assert np.abs(found.x - both[:n]).max() < SOLVED * (1.0 + np.abs(both).max())


def test_equalities_may_repeat_each_other():
    """Twice the same row, and a multiple of it."""
    A = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])
    found = solve_qp(np.eye(3), np.zeros(3), A=A, b=np.array([1.0, 1.0, 2.0]))
    assert found.solved and np.allclose(found.x, [0.5, 0.5, 0.0], atol=TINY)


def test_a_set_of_one_point_is_found():
    """Inequalities that only touch."""
    rng = np.random.default_rng(1)
    x, G = rng.normal(size=4), rng.normal(size=(6, 4))
    G = np.vstack([G, -G.sum(axis=0)])  # they surround x
    found = solve_qp(np.eye(4), np.ones(4), G, None, G @ x)
    assert found.solved and np.abs(found.x - x).max() < 1e-6


@pytest.mark.parametrize('given', [
    {'lb': [1.0, 0.0], 'ub': [0.0, 1.0]},                                          # crossed
    {'G': [[1.0, 1.0], [1.0, 1.0]], 'lower': [2.0, -9.0], 'upper': [9.0, 1.0]},    # apart
    {'G': [[1.0, 0.0]], 'lower': [2.0], 'upper': [1.0]},                           # crossed
    {'G': [[1.0, 0.0]], 'lower': [-2.0], 'upper': [-3.0]},                         # crossed
    {'A': [[1.0, 0.0], [2.0, 0.0]], 'b': [1.0, 1.0]},                              # contradictory
    {'A': [[1.0, 1.0]], 'b': [3.0], 'ub': [1.0, 1.0]},                             # out of bounds
    {'G': [[0.0, 0.0]], 'upper': [-1.0]},                                          # nothing below 0
])
def test_contradictory_constraints_are_infeasible(given):
    """Equalities or inequalities."""
    given = {name: np.array(value) for name, value in given.items()}
    assert solve_qp(np.eye(2), np.ones(2), **given).status == 'infeasible'


@pytest.mark.parametrize(('P', 'q'), [(-np.eye(2), np.zeros(2)), (np.eye(2), [np.nan, 0.0]),
                                      (np.full((2, 2), np.nan), np.zeros(2))])
def test_invalid_problems_are_refused(P, q):
    """Not convex, not numbers."""
    found = solve_qp(P, np.array(q), lb=-np.ones(2), ub=np.ones(2))
    assert found.status == 'failed'


def test_a_wrong_solution_is_refused(monkeypatch):
    """The solver's status is not enough (DAQP's issue 82 was such a case)."""
    import daqp

    def liar(P, q, *rest, **settings):
        return np.zeros(2), 0.0, 1, {'lam': np.zeros(2)}
    monkeypatch.setattr(daqp, 'solve', liar)
    assert solve_qp(np.eye(2), np.ones(2)).status == 'failed'
    assert solve_qp(np.eye(2), np.zeros(2), lb=np.ones(2), ub=np.full(2, 2.0)).status == 'failed'


def test_without_the_solver_the_error_says_how_to_install_it(monkeypatch):
    """And importing this package does not need it."""
    real = builtins.__import__

    def without(name, *rest):
        if name == 'daqp':
            raise ImportError(name)
        return real(name, *rest)
    monkeypatch.setattr(builtins, '__import__', without)
    with pytest.raises(DynamicsError, match='pip install "daqp'):
        solve_qp(np.eye(1), np.ones(1))
