"""Compute with rotations: the group SO(3), its algebra so(3), matrices and quaternions."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.spatial.select import Number

# Below this angle, quotients such as sin(x)/x are evaluated by two terms of their Taylor series.
# The first omitted term is at most x^4 / 5 of the sum: 2e-17, below the resolution of a double.
SMALL_ANGLE = 1e-4


def skew(a: np.ndarray) -> np.ndarray:
    """Return [a], the matrix of the cross product: [a] b = a x b (Kim 2012, eq. 5)."""
    x, y, z = _entries(a)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def unskew(A: np.ndarray) -> np.ndarray:
    """Return the vector a with [a] = (A - A')/2."""
    (_, xy, xz), (yx, _, yz), (zx, zy, _) = A.tolist()
    return 0.5 * np.array([zy - yz, xz - zx, yx - xy])


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a x b for vectors of floats or symbols, (3,) or (3, k) (np.cross: slow on objects)."""
    if a.ndim == b.ndim == 1:
        (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
        return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])
    if a.size != b.size and a.dtype == b.dtype == float:  # one matrix product, on plain numbers
        return skew(a) @ b if a.size == 3 else skew(b).T @ a
    (a0, a1, a2), (b0, b1, b2) = _entries(a), _entries(b)
    product = np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])
    return product if product.ndim == 2 else product[:, None]


def _entries(a: np.ndarray) -> Iterable:
    """Return the three rows; of a single column numbers of Python, which multiply fastest."""
    return a.ravel().tolist() if isinstance(a, np.ndarray) and a.size == 3 else a


def about_axis(axis: np.ndarray, angle: Number) -> np.ndarray:
    """Return the rotation by `angle` [rad] about the constant unit vector `axis`, (3, 3).

    R = cos(angle) (1 - aa') + sin(angle) [a] + aa'.  In this order of terms an axis along x, y or
    z leaves exactly the entries 0, 1, cos and +-sin.
    """
    return rotation_of_terms(axis_terms(axis), angle)


def axis_terms(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the constant matrices 1 - aa', [a] and aa' of `about_axis`, (3, 3) each."""
    along = np.outer(axis, axis)
    return np.eye(3) - along, skew(axis), along


def rotation_of_terms(terms: tuple[np.ndarray, np.ndarray, np.ndarray], angle: Number
                      ) -> np.ndarray:
    """Return the rotation by `angle` [rad] about the axis that has these `axis_terms`, (3, 3)."""
    across, turn, along = terms
    return np.cos(angle) * across + np.sin(angle) * turn + along


def from_rpy(rpy: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return R = Rz(yaw) Ry(pitch) Rx(roll), the URDF convention, (3, 3)."""
    x, y, z = np.eye(3)
    roll, pitch, yaw = rpy
    return about_axis(z, yaw) @ about_axis(y, pitch) @ about_axis(x, roll)


def from_quaternion(quaternion: Sequence | np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a unit quaternion (x, y, z, w), (3, 3)."""
    x, y, z, w = quaternion
    return np.array([
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ])


def quaternion_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the quaternion of the rotation R(a) R(b), both (x, y, z, w)."""
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return np.array([
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ])


def quaternion_exp(w: ArrayLike) -> np.ndarray:
    """Return the unit quaternion (x, y, z, w) of the rotation vector `w` [rad], for floats."""
    half = 0.5 * np.linalg.norm(w)
    # sin(h)/h = 1 - h^2/6 + O(h^4)
    ratio = 1.0 - half * half / 6.0 if half < SMALL_ANGLE else np.sin(half) / half
    return np.append(0.5 * ratio * np.asarray(w), np.cos(half))


def quaternion_log(quaternion: ArrayLike) -> np.ndarray:
    """Return the rotation vector [rad] of a unit quaternion (x, y, z, w), |w| <= pi, for floats."""
    q = np.asarray(quaternion, dtype=float)
    vector, scalar = (q[:3], q[3]) if q[3] >= 0.0 else (-q[:3], -q[3])
    sine = np.linalg.norm(vector)
    # 2 atan2(s, c)/s = 2/c (1 - s^2/(3 c^2)) + O(s^4)
    ratio = (2.0 / scalar * (1.0 - sine * sine / (3.0 * scalar * scalar)) if sine < SMALL_ANGLE
             else 2.0 * np.arctan2(sine, scalar) / sine)
    return ratio * vector


def to_quaternion(R: np.ndarray) -> np.ndarray:
    """Return the unit quaternion (x, y, z, w) with w >= 0 of a rotation matrix, for floats.

    The largest of the four components is computed first, so that no division is by a small number
    (Shepperd 1978).
    """
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    squares = np.array([*(1.0 + 2.0 * np.diag(R) - trace), 1.0 + trace])  # 4 (x^2, y^2, z^2, w^2)
    k = int(np.argmax(squares))
    if k == 3:
        q = np.append(2.0 * unskew(R), squares[3])
    else:
        i, j = (k + 1) % 3, (k + 2) % 3
        q = np.empty(4)
        q[k] = squares[k]
        q[i], q[j] = R[i, k] + R[k, i], R[j, k] + R[k, j]
        q[3] = R[j, i] - R[i, j]
    q = q / np.linalg.norm(q)
    return -q if q[3] < 0.0 else q


def exp(w: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of the rotation vector `w` [rad], for floats (Rodrigues)."""
    return from_quaternion(quaternion_exp(w))


def log(R: np.ndarray) -> np.ndarray:
    """Return the rotation vector [rad] of a rotation matrix, |w| <= pi, for floats.

    Within a quarter turn the sine of the angle is accurate, and plain floats take 1 us instead of
    the 18 us by the quaternion: the task laws compute this a thousand times a second.
    At |w| = pi both w and -w are valid; one of them is returned. Symbols: `branchless_log`.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.asarray(R, dtype=float).tolist()
    x, y, z, cosine = (zy - yz) / 2, (xz - zx) / 2, (yx - xy) / 2, (xx + yy + zz - 1.0) / 2
    if cosine <= 0.0:
        return quaternion_log(to_quaternion(R))
    sine = math.sqrt(x * x + y * y + z * z)
    ratio = math.atan2(sine, cosine) / sine if sine > 0.0 else 1.0
    return np.array([ratio * x, ratio * y, ratio * z])


def exp_jacobian(w: np.ndarray) -> np.ndarray:
    r"""Return the left Jacobian V of exp, for floats: exp([w, v]) has the translation V v, (3, 3).

    V = 1 + (1 - cos t)/t^2 [w] + (t - sin t)/t^3 [w]^2,  t = |w|.
    """
    t = np.linalg.norm(w)
    if t < SMALL_ANGLE:  # (1 - cos t)/t^2 = 1/2 - t^2/24, (t - sin t)/t^3 = 1/6 - t^2/120
        b, c = 0.5 - t * t / 24.0, 1.0 / 6.0 - t * t / 120.0
    else:  # 1 - cos t = 2 sin(t/2)^2 avoids cancellation; in c it is negligible compared to 1
        b, c = 2.0 * (np.sin(0.5 * t) / t) ** 2, (t - np.sin(t)) / t ** 3
    W = skew(w)
    return np.eye(3) + b * W + c * (W @ W)
