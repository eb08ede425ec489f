"""Solve equations in the cosine and sine of one angle.

An angle is a pair (cos, sin), so that an algorithm needs no inverse trigonometric function and can
be compiled: arithmetic without branches. Only `quadratic_roots` is for floats alone.
"""

from typing import TypeAlias

import numpy as np

from dynamics_node.spatial.select import Number, is_positive, larger, select
from dynamics_node.spatial.so3 import cross

Angle: TypeAlias = tuple[Number, Number]  # (cos, sin)

# Nearer to a singularity than this [m or rad], an angle is free and keeps its default.
FREE = 1e-9
# An imaginary part of a root below this is that of a double root, split by rounding [rad].
# The pose of the solution is checked afterwards.
NEARLY_REAL = 1e-2
# Angles where quadratic_roots looks for the largest value. A quadratic has no more than four roots,
# so that it is not zero at all of them.
LOOK = np.arange(8) * (np.pi / 4.0)


def rotated(axis: np.ndarray, angle: Angle, x: np.ndarray) -> np.ndarray:
    """Return a vector x, or the columns of x, rotated about a constant unit vector."""
    c, s = angle
    along = axis @ x
    along = axis * along if x.ndim == 1 else np.outer(axis, along)
    return c * (x - along) + s * cross(axis, x) + along


def back(angle: Angle) -> Angle:
    """Return the angle of the inverse rotation."""
    return angle[0], -angle[1]


def one_of_two(a: Number, b: Number, d: Number, sign: Number, default: Angle,
               square: Number | None = None) -> Angle:
    """Return the solution of a cos + b sin = d that `sign`, 1 or -1, chooses.

    Without a solution: the angle where a cos + b sin comes nearest to d. Where a and b are zero:
    the default.

    :param square: a^2 + b^2 - d^2, where it is known without cancellation.
    """
    square = a * a + b * b - d * d if square is None else square
    height = sign * np.sqrt(larger(square, 0.0))
    return angle_of(a * d - b * height, b * d + a * height, default)


def angle_to_component(axis: np.ndarray, u: np.ndarray, v: np.ndarray, x: np.ndarray, sign: Number,
                      default: Angle) -> Angle:
    """Return the angle about `axis`, of two that `sign` chooses, with u . R v = u . x.

    All are unit vectors; axis, u and v are constant. a^2 + b^2 - d^2 is the square of the volume
    u . (axis x R v), here without the cancellation that would cost half of the digits where x is
    along u.
    """
    first, last = u @ axis, axis @ v
    off, along = cross(u, x), first * x - last * u
    return one_of_two(u @ v - first * last, u @ cross(axis, v), u @ x - first * last, sign, default,
                      off @ off - along @ along)


def angle_between(axis: np.ndarray, u: np.ndarray, v: np.ndarray, default: Angle) -> Angle:
    """Return the angle about a unit axis that turns the part of u normal to it towards that of v.

    Where u or v is along the axis any angle does: the default is returned (Paden-Kahan 1).
    """
    a, b = cross(axis, u), cross(axis, v)
    known = is_positive(a @ a - FREE ** 2) * is_positive(b @ b - FREE ** 2)
    c, s = angle_of(a @ b, a @ v, default)
    return select(known, c, default[0]), select(known, s, default[1])


def angle_of(c: Number, s: Number, default: Angle) -> Angle:
    """Return the angle of a vector (c, s) [m^2 or 1]; the default where it is zero."""
    square = c * c + s * s
    known = is_positive(square - FREE ** 4)
    length = np.sqrt(select(known, square, 1.0))
    return select(known, c / length, default[0]), select(known, s / length, default[1])


def quadratic_roots(Q: np.ndarray, default: Angle) -> np.ndarray:
    """Return (cos, sin) of the angles with x' Q x = 0, x = (cos, sin, 1), (k, 2), k at most 4.

    With t = tan((angle - middle) / 2) the equation is a polynomial of degree four in t. The middle
    is chosen opposite to the largest value, which is the leading coefficient. Where every angle is
    a solution: the default.
    """
    looked = np.stack([np.cos(LOOK), np.sin(LOOK), np.ones(len(LOOK))])
    values = np.abs(np.sum(looked * (Q @ looked), axis=0))
    if values.max() <= FREE ** 2:
        return np.array([default])
    c, s, _ = -looked[:, np.argmax(values)]
    # columns: x (1 + t^2) = V (1, t, t^2)
    V = np.array([[c, -2.0 * s, -c], [s, 2.0 * c, -s], [1.0, 0.0, 1.0]])
    S = V.T @ Q @ V
    t = np.roots([S[2, 2], 2.0 * S[1, 2], 2.0 * S[0, 2] + S[1, 1], 2.0 * S[0, 1], S[0, 0]])
    t = t[np.abs(2.0 * t.imag) <= NEARLY_REAL * (1.0 + np.abs(t) ** 2)].real
    found = V[:2] @ np.stack([np.ones(len(t)), t, t * t]) / (1.0 + t * t)
    return found.T
