"""Test the factorisation and solution of small symmetric systems."""

import numpy as np
from support.tolerances import SOLVED

from dynamics_node.spatial.solve import factor, solve_factored, symmetric


def test_factors_multiply_back_and_solve():
    """A = L' D L, and L' D L X = B for a vector and a matrix, down to size zero."""
    rng = np.random.default_rng(2)
    for n in (0, 1, 2, 6, 20):
        A = rng.normal(size=(n, n))
        A = A @ A.T + np.eye(n)
        L, d = factor(A)
        np.testing.assert_allclose(L.T @ np.diag(d) @ L, A, atol=SOLVED)
        for B in (rng.normal(size=n), rng.normal(size=(n, 3))):
            np.testing.assert_allclose(A @ solve_factored(L, d, B), B, atol=SOLVED)


def test_zeros_between_branches_stay_zero():
    """Two branches on one root: no fill-in."""
    A = np.array([[4.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 5.0]])
    assert factor(A)[0][2, 1] == 0.0


def test_the_input_is_not_written():
    """Factor and solve work on copies."""
    A, b = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0])
    L, d = factor(A)
    solve_factored(L, d, b)
    assert A.tolist() == [[2.0, 1.0], [1.0, 2.0]]
    assert b.tolist() == [1.0, 2.0]


def test_symmetric_mirrors_the_upper_triangle():
    """Only the upper triangle is read."""
    assert symmetric(np.array([[1.0, 2.0], [9.0, 3.0]])).tolist() == [[1.0, 2.0], [2.0, 3.0]]
