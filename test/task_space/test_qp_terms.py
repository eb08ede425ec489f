"""Test the terms of QPs, in C and in NumPy: their definitions, written out, and each other."""

import math

import numpy as np
import pytest

from dynamics_node.task_space import fast_terms, qp_terms

TINY = 1e-12
both = pytest.mark.parametrize('terms', [qp_terms, fast_terms], ids=['numpy', 'fast'])


@both
@pytest.mark.parametrize(('t', 'k'), [(1, 1), (7, 3), (30, 12), (60, 32), (3, 9)])
def test_normal_equations_are_the_gradient_of_the_weighted_squares(terms, t, k):
    """P u + q is the derivative of the sum of weight (A u - b)^2 / 2; P is symmetric."""
    rng = np.random.default_rng(k)
    rows, weights = rng.normal(size=(t, k + 1)), rng.uniform(size=t)
    weights[::3] = 0.0
    P, q = terms.normal_equations(rows, weights)
    u = rng.normal(size=k)
    slope = rows[:, :k].T @ (weights * (rows[:, :k] @ u + rows[:, k]))
    assert np.allclose(P @ u + q, slope, rtol=0.0, atol=TINY * (1.0 + np.abs(slope).max()) * t)
    assert np.abs(P - P.T).max() <= TINY


@both
@pytest.mark.parametrize(('of_u', 'of_x', 'r', 'k'), [(2, 3, 4, 2), (0, 5, 6, 8), (4, 0, 0, 4)])
def test_rows_of_torques_hold_exactly_when_the_bounds_do(terms, of_u, of_x, r, k):
    """At u: the distances to the limits are those of u and of x = X u + x0."""
    rng = np.random.default_rng(r)
    G, G_x = rng.normal(size=(of_u, k)), rng.normal(size=(of_x, r))
    x_rows, limits = rng.normal(size=(r, k + 1)), rng.normal(size=(2, of_u + of_x))
    limits[0, ::2] = -np.inf
    found, lower, upper = terms.rows_of_torques(G, limits, G_x, x_rows)
    u = rng.normal(size=k)
    where = np.concatenate([G @ u, G_x @ (x_rows[:, :k] @ u + x_rows[:, k])])
    assert found.shape == (of_u + of_x, k)
    assert np.allclose(lower - found @ u, limits[0] - where, rtol=0.0, atol=TINY)
    assert np.allclose(upper - found @ u, limits[1] - where, rtol=0.0, atol=TINY)


@both
def test_definiteness_is_the_least_pivot(terms):
    """Closed forms: 1 of a diagonal, 1 - c^2 of (1, c; c, 1) in any units, 0 if not definite."""
    assert terms.definiteness(np.diag([1.0, 1e-8, 3.0])) == pytest.approx(1.0, rel=1e-15)
    units = np.array([1.0, 1e-6])
    for c in (0.1, -0.9, 0.999999):
        P = np.array([[1.0, c], [c, 1.0]]) * units * units[:, None]
        assert terms.definiteness(P) == pytest.approx(1.0 - c * c, rel=1e-9)
    for wrong in ([[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]], [[-1.0]],
                  [[1.0, 1.0], [1.0, 1.0]]):
        assert terms.definiteness(np.array(wrong)) == 0.0
    assert not terms.definiteness(np.array([[1.0, math.nan], [math.nan, 1.0]])) > 0.0


@both
def test_affine_adds_the_last_column(terms):
    """Of rows that are views too: those of a Fortran array, of every second row."""
    rows, u = np.arange(24.0).reshape(4, 6), np.array([1.0, -2.0, 0.5, 3.0, 0.0])
    wanted = [sum(row[:5] * u) + row[5] for row in rows]
    for view in (rows, np.asfortranarray(rows), np.repeat(rows, 2, axis=0)[::2]):
        assert np.allclose(terms.affine(view, u), wanted, rtol=0.0, atol=TINY)


@both
def test_kkt_of_a_problem_with_known_solution(terms):
    """The least |x - (2, 0)|^2 / 2 with x_0 <= 1 and x_0 + x_1 >= -5: (1, 0), multiplier 1."""
    P, q = np.eye(2), np.array([-2.0, 0.0])
    rows, low, high = np.array([[1.0, 1.0]]), np.array([-np.inf, -np.inf, -5.0]), np.array(
        [1.0, np.inf, np.inf])
    x, forces = np.array([1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    gaps, residual = terms.kkt(P, q, rows, low, high, x, forces)
    assert residual == 0.0
    assert gaps.tolist() == [0.0, np.inf, 3.0]   # 6 / (1 + 1)
    for wrong in ((np.array([1.1, 0.0]), forces), (x, 0.9 * forces), (x, -forces),
                  (np.array([0.9, 0.0]), np.array([1.1, 0.0, 0.0])),     # not at the limit
                  (np.array([2.0, 0.0]), np.zeros(3)), (np.array([1.0, math.nan]), forces)):
        assert not terms.kkt(P, q, rows, low, high, *wrong)[1] < 1e-3


@both
def test_kkt_of_crossed_limits_never_holds(terms):
    """At the limit that pushes, the other one is broken."""
    for force in (-1.0, 1.0):
        _, residual = terms.kkt(np.eye(1), np.array([-2.0]), np.eye(1), np.array([2.0]),
                                np.array([1.0]), np.array([1.0 if force > 0.0 else 2.0]),
                                np.array([force]))
        assert residual > 0.1


@both
@pytest.mark.parametrize('place', range(7))
@pytest.mark.parametrize('force', [0.0, 1.0])
def test_kkt_of_nan_is_nan(terms, place, force):
    """In whichever argument."""
    given = [np.eye(1), np.array([-2.0]), np.eye(1), np.array([1.0]), np.array([5.0]),
             np.array([2.0]), np.array([force])]
    given[place] = np.full_like(given[place], np.nan)
    assert np.isnan(terms.kkt(*given)[1])


@pytest.mark.parametrize('seed', range(10))
def test_c_and_numpy_agree_at_any_point(seed):
    """Also away from the solution, with and without bounds of x."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 20, size=2)
    P, q, rows = rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=(m, n))
    every = m + n * (seed % 2)
    low, high = np.sort(rng.normal(size=(2, every)), axis=0)
    forces = rng.normal(size=every) * (rng.random(every) < 0.3)
    given = P, q, rows, low, high, rng.normal(size=n), forces
    (gaps, residual), (other_gaps, other) = fast_terms.kkt(*given), qp_terms.kkt(*given)
    assert np.allclose(gaps, other_gaps, rtol=0.0, atol=TINY)
    assert residual == pytest.approx(other, rel=1e-10)


def test_shapes_that_do_not_fit_are_refused():
    """C would read beyond the arrays."""
    a, b = np.zeros((3, 4)), np.zeros(3)
    for name, given in (('normal_equations', (a, np.zeros(2))), ('normal_equations', (a, a)),
                        ('affine', (a, np.zeros(4))), ('definiteness', (a,)),
                        ('rows_of_torques', (a, a, a, a)),
                        ('kkt', (np.eye(3), b, np.eye(3), b, b[:2], b, b))):
        with pytest.raises(ValueError):
            getattr(fast_terms, name)(*given)
    with pytest.raises((TypeError, ValueError)):
        fast_terms.affine(a, 'text')
