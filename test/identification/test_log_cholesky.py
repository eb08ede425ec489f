"""Test the log-Cholesky parameters: ten numbers for every physical body, and back."""

import numpy as np
import pytest
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node.algorithms.inertial_parameters import inertia_of, ten_numbers
from dynamics_node.identification.log_cholesky import (
    body_of,
    body_rates,
    is_consistent,
    log_cholesky,
    nearest_consistent,
    pseudo_inertia,
    ten_of,
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
    for _ in range(20):
        ten = some_points(rng)
        np.testing.assert_allclose(body_of(log_cholesky(ten)), ten, rtol=SOLVED, atol=SOLVED)
        x = rng.normal(size=10)
        np.testing.assert_allclose(log_cholesky(body_of(x)), x, rtol=SOLVED, atol=SOLVED)
        np.testing.assert_allclose(ten_of(pseudo_inertia(ten)), ten, rtol=EXACT_MATHS)


def test_any_ten_numbers_are_a_body(rng):
    """Positive mass, positive principal moments about the centre, triangle inequalities."""
    for _ in range(200):
        inertia = inertia_of(body_of(rng.normal(size=10)))
        low, middle, high = np.linalg.eigvalsh(inertia.tensor_about_com())
        assert inertia.mass > 0.0 < low
        assert low + middle > high


def test_mass_and_centre_can_be_read_off(rng):
    x = rng.normal(size=10)
    inertia = inertia_of(body_of(x))
    assert inertia.mass == pytest.approx(np.exp(2 * x[0]))
    np.testing.assert_allclose(inertia.com, x[7:], rtol=SOLVED)


def test_the_derivative_is_that_of_a_complex_step(rng):
    """df/dx = Im f(x + i h) / h, exact to rounding for h = 1e-30."""
    for _ in range(10):
        x = rng.normal(size=10)
        steps = x + 1e-30j * np.eye(10)
        truth = np.stack([_complex_body(step).imag / 1e-30 for step in steps], axis=-1)
        np.testing.assert_allclose(body_rates(x), truth, rtol=EXACT_MATHS, atol=EXACT_MATHS)


def _complex_body(x):
    """Return the body by its definition, on complex numbers."""
    U = np.array([[np.exp(x[1]), x[4], x[6], x[7]], [0, np.exp(x[2]), x[5], x[8]],
                  [0, 0, np.exp(x[3]), x[9]], [0, 0, 0, 1.0]])
    P = np.exp(2 * x[0]) * U @ U.T
    I = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[:3, 3], I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])


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
        near = nearest_consistent(wrong)
        assert is_consistent(near)
        np.testing.assert_allclose(body_of(log_cholesky(near)), near, rtol=1e-6, atol=1e-9)
