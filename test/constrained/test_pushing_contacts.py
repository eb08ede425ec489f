"""Test the search for the contacts that push."""

import itertools

import numpy as np
import pytest
from scipy.optimize import nnls

from dynamics_node import DynamicsError
from dynamics_node.constrained.pushing_contacts import Pushed, pushing_contacts, without_pull


def problem(rng, k):
    """Return (W, b): rate = W force + b of k contacts without friction, W positive definite."""
    J = rng.normal(size=(k, k + 2))
    return J @ J.T, 3.0 * rng.normal(size=k)


def of(W, b):
    def solve(closed):
        force = np.zeros(len(b))
        rows = list(closed)
        force[rows] = np.linalg.solve(W[np.ix_(rows, rows)], -b[rows])
        return Pushed(force, W @ force + b)
    return solve


def test_the_contacts_are_those_of_the_least_constraint():
    """Gauss: the forces minimise f' W f / 2 + b' f over f >= 0, here by nnls."""
    rng = np.random.default_rng(0)
    sizes = set()
    for _ in range(100):
        W, b = problem(rng, 5)
        half = np.linalg.cholesky(W)
        best, _ = nnls(half.T, -np.linalg.solve(half, b))
        found = pushing_contacts(range(5), of(W, b))
        assert found == tuple(np.flatnonzero(best > 1e-12).tolist())
        sizes.add(len(found))
    assert {1, 2, 3} <= sizes


def test_only_candidates_are_closed():
    """A point that is in the air may move down."""
    assert pushing_contacts([0], lambda closed: Pushed(np.array([1.0, 0.0]) * (0 in closed),
                                                       np.array([0.0, -5.0]))) == (0,)


def test_a_contradiction_is_refused():
    """A contact that pulls if it is closed, and whose point moves down if it is open."""
    with pytest.raises(DynamicsError, match=r'no set of the contacts \[0\] pushes'):
        pushing_contacts([0], lambda closed: Pushed(np.array([-1.0 * len(closed)]),
                                                    np.array([-1.0])))


def test_dependent_rows_share_a_load_without_pull():
    """Four feet of a table with the load near one foot: the least squares pull, others do not."""
    places = np.array([(x, y) for x, y in itertools.product((-1.0, 1.0), repeat=2)])
    A = np.column_stack([np.ones(4), places])          # height, and two rotations
    load = np.array([1.0, 0.9, 0.9])
    least = np.linalg.lstsq(A.T, load, rcond=None)[0]
    assert least.min() < -0.1
    shared = without_pull(A, least, range(4))
    assert shared.min() >= 0.0
    np.testing.assert_allclose(A.T @ shared, load, atol=1e-12)
    outside = np.linalg.lstsq(A.T, np.array([1.0, 1.5, 0.0]), rcond=None)[0]
    assert without_pull(A, outside, range(4)) is outside    # the table tips
