"""Test equations in the cosine and sine of one angle."""

import numpy as np
import pytest

from dynamics_node.spatial import so3
from dynamics_node.task_space.circle_equations import (
    angle_between,
    one_of_two,
    quadratic_roots,
    rotated,
)

DEFAULT = np.cos(0.7), np.sin(0.7)
# A double root is split by rounding: half of the digits remain.
SIMPLE, DOUBLE = 1e-12, 1e-6


def line(*angles):
    """Return the row vector that vanishes at (cos, sin, 1) of two angles."""
    one, other = (np.array([np.cos(x), np.sin(x), 1.0]) for x in angles)
    found = np.cross(one, other)
    return found / np.linalg.norm(found)


def tangent(angle):
    """Return the row vector that vanishes at one angle, twice."""
    return np.array([np.cos(angle), np.sin(angle), -1.0])


def quadratic(one, other):
    return 0.5 * (np.outer(one, other) + np.outer(other, one))


def angles_of(roots):
    assert np.abs(np.linalg.norm(roots, axis=1) - 1.0).max() < SIMPLE
    return np.sort(np.arctan2(roots[:, 1], roots[:, 0]))


@pytest.mark.parametrize('seed', range(5))
def test_four_chosen_angles_are_the_roots(seed):
    """The product of two lines through two points of the circle each."""
    angles = np.sort(np.random.default_rng(seed).uniform(-np.pi, np.pi, 4))
    roots = quadratic_roots(quadratic(line(*angles[:2]), line(*angles[2:])), DEFAULT)
    assert angles_of(roots) == pytest.approx(angles, abs=SIMPLE / np.diff(angles).min())


def test_a_double_root_is_found():
    """A tangent and a line: once at 1.0, and at -2.0 and 0.3."""
    found = angles_of(quadratic_roots(quadratic(tangent(1.0), line(-2.0, 0.3)), DEFAULT))
    assert found[:2] == pytest.approx([-2.0, 0.3], abs=SIMPLE)
    assert len(found) == 4 and found[2:] == pytest.approx(1.0, abs=DOUBLE)


def test_an_equation_without_roots_has_none_and_one_without_content_the_default():
    """cos^2 + sin^2 + 1 is 2, and cos^2 + sin^2 - 1 is 0."""
    assert quadratic_roots(np.eye(3), DEFAULT).shape == (0, 2)
    assert quadratic_roots(np.diag([1.0, 1.0, -1.0]), DEFAULT).tolist() == [[*DEFAULT]]


def test_a_linear_equation_has_two_roots_or_the_nearest_angle_or_the_default():
    """2 cos + sin = d."""
    for d in (0.5, -2.0):
        both = [one_of_two(2.0, 1.0, d, sign, DEFAULT) for sign in (1.0, -1.0)]
        for c, s in both:
            assert 2.0 * c + s == pytest.approx(d, abs=SIMPLE)
            assert c * c + s * s == pytest.approx(1.0, abs=SIMPLE)
        assert np.linalg.norm(np.subtract(*both)) > 0.1
    c, s = one_of_two(2.0, 1.0, 9.0, 1.0, DEFAULT)
    assert (c, s) == pytest.approx((2.0 / 5.0 ** 0.5, 1.0 / 5.0 ** 0.5))
    assert one_of_two(0.0, 0.0, 0.0, 1.0, DEFAULT) == DEFAULT


def test_the_turn_between_two_vectors_turns_one_to_the_other():
    """About an arbitrary axis; along the axis there is none, and the default is kept."""
    rng = np.random.default_rng(0)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    u = rng.normal(size=3)
    v = so3.about_axis(axis, 2.1) @ u
    c, s = angle_between(axis, u, v, DEFAULT)
    assert np.arctan2(s, c) == pytest.approx(2.1, abs=SIMPLE)
    assert rotated(axis, (c, s), u) == pytest.approx(v, abs=SIMPLE)
    assert angle_between(axis, 2.0 * axis, v, DEFAULT) == DEFAULT
