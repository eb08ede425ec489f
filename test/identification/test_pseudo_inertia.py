"""Test the pseudo-inertia: ten parameters and back, and which of them belong to a body."""

import numpy as np
import pytest
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node.algorithms.inertial_parameters import inertia_of, ten_numbers
from dynamics_node.identification.pseudo_inertia import (
    is_consistent,
    nearest_consistent,
    pseudo_inertia,
    ten_of,
    upper_cholesky,
)
from dynamics_node.spatial.inertia import Inertia


def some_points(rng, count=6):
    """Return the ten numbers of point masses: a physical body."""
    masses, points = rng.uniform(0.1, 2.0, count), 0.3 * rng.normal(size=(count, 3))
    tensor = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points))
    return ten_numbers(Inertia(masses.sum(), masses @ points, tensor))


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def test_parameters_convert_back(rng):
    tens = np.array([some_points(rng) for _ in range(20)])
    for ten, P in zip(tens, pseudo_inertia(tens)):
        np.testing.assert_allclose(ten_of(P), ten, rtol=EXACT_MATHS)
        U = upper_cholesky(P)
        np.testing.assert_allclose(U @ U.T, P, rtol=SOLVED, atol=SOLVED)
        np.testing.assert_array_equal(U, np.triu(U))


def test_the_pseudo_inertia_has_second_moment_first_moment_and_mass(rng):
    ten = some_points(rng)
    inertia = inertia_of(ten)
    P = pseudo_inertia(ten)
    np.testing.assert_allclose(P[:3, :3], inertia.second_moment, atol=EXACT_MATHS)
    np.testing.assert_allclose(P[:3, 3], inertia.mass * inertia.com, atol=EXACT_MATHS)
    assert P[3, 3] == inertia.mass


def test_a_body_that_cannot_exist_is_reported(rng):
    ten = some_points(rng)
    assert is_consistent(ten)
    assert not is_consistent(-ten)
    assert not is_consistent(np.zeros(10))
    too_long = ten_numbers(Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.1])))
    assert not is_consistent(too_long)
    assert not is_consistent(np.full(10, np.nan))


def test_a_body_near_an_impossible_one_exists_and_a_possible_one_stays(rng):
    ten = some_points(rng)
    np.testing.assert_array_equal(nearest_consistent(ten), ten)
    for wrong in (np.zeros(10), -ten, ten_numbers(Inertia(1.0, np.ones(3), np.zeros((3, 3)))),
                  ten_numbers(Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.1])))):
        assert is_consistent(nearest_consistent(wrong))
