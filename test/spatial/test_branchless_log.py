"""Test the branchless rotation logarithm against so3.log and closed forms, half turns included."""

import numpy as np
import pytest

from dynamics_node.spatial import so3
from dynamics_node.spatial.branchless_log import (
    branchless_log,
    half_angle_over_sine,
    shortest_rotation,
)

# At half a turn the quaternion's scalar part is a difference of numbers near 1: its rounding is a
# few 1e-16, and so is the angle's.
TURN = 1e-13


@pytest.mark.parametrize('angle', [0.0, 1e-12, 1e-8, 1e-4, 0.5, 1.5, 2.0, 3.0, np.pi - 1e-9])
def test_the_rotation_vector_gives_back_the_rotation(angle):
    """Of a rotation by every angle about random axes, those of the frame among them."""
    rng = np.random.default_rng(0)
    for axis in [*rng.normal(size=(40, 3)), *np.eye(3), *-np.eye(3), [1.0, 1.0, 0.0]]:
        w = angle * np.asarray(axis) / np.linalg.norm(axis)
        assert np.abs(branchless_log(so3.exp(w)) - w).max() < TURN


def test_half_a_turn_is_not_lost():
    """About every axis; either of its two rotation vectors is valid."""
    for axis in np.random.default_rng(1).normal(size=(20, 3)):
        axis /= np.linalg.norm(axis)
        got = branchless_log(2.0 * np.outer(axis, axis) - np.eye(3))
        assert min(np.abs(got - np.pi * axis).max(), np.abs(got + np.pi * axis).max()) < TURN


def test_the_polynomial_approximates_the_function():
    """The half angle over its sine, from half a turn to none."""
    w = np.cos(np.linspace(1e-3, np.pi / 2, 1000))
    np.testing.assert_allclose(half_angle_over_sine(w), np.arccos(w) / np.sin(np.arccos(w)),
                               rtol=1e-12)
    assert half_angle_over_sine(1.0) == pytest.approx(1.0, abs=1e-14)


def test_the_shortest_turn_takes_one_axis_to_the_other():
    """Its axis is normal to both, its length their angle; opposite axes turn about `across`."""
    rng = np.random.default_rng(2)
    for a, b in rng.normal(size=(50, 2, 3)):
        a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
        across = so3.cross(a, b) / np.linalg.norm(so3.cross(a, b))
        turn = shortest_rotation(a, b, across)
        np.testing.assert_allclose(so3.exp(turn) @ a, b, atol=TURN)
        assert abs(turn @ a) < TURN
        np.testing.assert_allclose(shortest_rotation(a, -a, across), np.pi * across, atol=TURN)
        np.testing.assert_allclose(shortest_rotation(a, a, across), 0.0, atol=TURN)
