"""Compute with vectors of three numbers as lists, of floats or symbols.

For single twists and wrenches: operations on arrays of three numbers take three times as long.
"""

from typing import Any

import numpy as np


def halves(V: np.ndarray) -> tuple[list, list]:
    """Return the angular and the linear part of a twist or wrench, (6,) or (6, 1)."""
    entries = V.ravel().tolist()
    return entries[:3], entries[3:]


def joined(like: np.ndarray, x: list, y: list) -> np.ndarray:
    """Return the twist or wrench of two parts, as a column where `like` is one."""
    array = np.array(x + y)
    return array if like.ndim == 1 else array.reshape(6, 1)


def times(A: list, x: list) -> list:
    """Return A x for the rows of a 3 x 3 matrix."""
    a, b, c = x
    return [row[0] * a + row[1] * b + row[2] * c for row in A]


def scaled(k: Any, x: list) -> list:
    """Return k x for a number k."""
    return [k * x[0], k * x[1], k * x[2]]


def cross(a: list, b: list) -> list:
    """Return a x b."""
    (a0, a1, a2), (b0, b1, b2) = a, b
    return [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]


def total(x: list, y: list) -> list:
    """Return x + y."""
    return [x[0] + y[0], x[1] + y[1], x[2] + y[2]]


def difference(x: list, y: list) -> list:
    """Return x - y."""
    return [x[0] - y[0], x[1] - y[1], x[2] - y[2]]
