"""Compute rotation vectors without branches, on floats and on symbols.

This logarithm can be compiled; its relative error is 4e-15. `so3.log` branches on values, so it
takes floats only; on these it is exact to 4e-16 and faster (1 us instead of 22 us).
"""

from collections.abc import Sequence

import numpy as np

from dynamics_node.spatial.select import Number, is_positive, select
from dynamics_node.spatial.so3 import cross

# Degree of the polynomial in 2 w - 1 that approximates acos(w) / sin(acos(w)) on 0 <= w <= 1 to
# 5e-15; the nearest singularity is w = -1.
DEGREE = 18
# At least one of 4 x^2, 4 y^2, 4 z^2, 4 w^2 exceeds this, since their sum is 4.
LARGE = 0.9
OPPOSITE = 1e-12  # squared cosine of half the angle below which the vectors count as opposite


def _half_angle_over_sine(w: float) -> float:
    if w > 0.999999:
        s = 1.0 - w * w   # sin(h)^2; h / sin(h) = 1 + s/6 + 3 s^2/40
        return 1.0 + s / 6.0 + 3.0 * s * s / 40.0
    return np.arccos(w) / np.sqrt(1.0 - w * w)


_COEFFICIENTS = tuple(np.polynomial.chebyshev.cheb2poly(np.polynomial.chebyshev.chebinterpolate(
    np.vectorize(lambda x: _half_angle_over_sine((x + 1.0) / 2.0)), DEGREE)))


def half_angle_over_sine(w: Number) -> Number:
    """Return h / sin h of the half angle h = acos(w), 0 <= w <= 1: from pi/2 down to 1."""
    x, value = 2.0 * w - 1.0, _COEFFICIENTS[-1]
    for coefficient in reversed(_COEFFICIENTS[:-1]):
        value = value * x + coefficient
    return value


def branchless_log(R: np.ndarray) -> np.ndarray:
    """Return the rotation vector of a rotation matrix, length from 0 to pi, (3,) [rad].

    The rows of 4 q q', q the unit quaternion, are linear in R. A row that is not short, divided by
    its length, is q or -q. The result is  2 (h / sin h) (x, y, z)  with cos h = w >= 0.
    """
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]      # 4 w (x, y, z)
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    xx, yy, zz = (1.0 - trace + 2.0 * R[k, k] for k in range(3))
    ww = 1.0 + trace
    row = _first_large([(ww, (x, y, z, ww)), (xx, (xx, xy, xz, x)), (yy, (xy, yy, yz, y)),
                        (zz, (xz, yz, zz, z))])
    sign = 2.0 * is_positive(row[3]) - 1.0
    scale = sign / np.sqrt(row @ row)
    return 2.0 * half_angle_over_sine(row[3] * scale) * (row[:3] * scale)


def _first_large(rows: Sequence[tuple[Number, tuple[Number, ...]]]) -> np.ndarray:
    """Return the row of the first pair (size, row) with a large size, or the last row."""
    found = np.array(rows[-1][1])
    for size, row in reversed(rows[:-1]):
        found = select(is_positive(size - LARGE), np.array(row), found)
    return found


def shortest_rotation(a: np.ndarray, b: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Return the rotation vector of the shortest rotation of the unit vector a to b, (3,) [rad].

    :param across: unit vector normal to a, the axis of rotation where b = -a.
    """
    cosine = (1.0 + a @ b) / 2.0   # squared, of half the angle
    is_half_turn = is_positive(OPPOSITE - cosine)
    w = np.sqrt(select(is_half_turn, 1.0, cosine))
    axis = select(is_half_turn, 2.0 * across, cross(a, b) / w)
    return half_angle_over_sine(select(is_half_turn, 0.0, w)) * axis
