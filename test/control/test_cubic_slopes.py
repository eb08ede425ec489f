"""Test the slopes of cubic splines against those of SciPy."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from support.differences import relative
from support.tolerances import EXACT_MATHS

from dynamics_node.control.cubic_slopes import clamped_slopes, free_slopes, second_derivatives


@pytest.fixture(params=[2, 3, 4, 5, 9, 500])
def points(request):
    """Times a tenth to one second apart, and three columns of values."""
    rng = np.random.default_rng(request.param)
    return np.cumsum(rng.uniform(0.1, 1.0, request.param)), rng.normal(size=(request.param, 3))


def test_at_rest_at_both_ends(points):
    slopes, expected = clamped_slopes(*points), CubicSpline(*points, bc_type='clamped')
    assert relative(slopes, expected(points[0], 1)) < EXACT_MATHS
    assert relative(second_derivatives(*points, slopes), expected(points[0], 2)) < EXACT_MATHS


def test_free_at_both_ends(points):
    """Not-a-knot; the parabola through three points, the line through two."""
    assert relative(free_slopes(*points), CubicSpline(*points)(points[0], 1)) < EXACT_MATHS
