"""Convert homogeneous matrices of many rows to positions and quaternions."""

import numpy as np

ROWS = 4096   # per block: the temporary arrays stay in the cache of a core


def poses(T: np.ndarray) -> np.ndarray:
    """Return position and quaternion x y z w with w >= 0 of homogeneous matrices, (N, 7).

    Of the four formulas for a quaternion the one that divides by its largest entry is used, row by
    row (Shepperd 1978): exact to rounding for all angles.

    :param T: (N, 4, 4)
    """
    out = np.empty((len(T), 7))
    out[:, :3] = T[:, :3, 3]
    for first in range(0, len(T), ROWS):
        rows = slice(first, first + ROWS)
        out[rows, 3:] = _quaternions(T[rows])
    return out


def _quaternions(T):
    xx, yy, zz = T[:, 0, 0], T[:, 1, 1], T[:, 2, 2]
    # 4 times the squares of x, y, z, w
    squares = np.stack([1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz,
                        1.0 + xx + yy + zz])
    largest = squares.argmax(axis=0)
    q = np.empty((4, len(T)))   # 4 times the largest entry times (x, y, z, w)
    products = {
        (0, 1): T[:, 0, 1] + T[:, 1, 0], (0, 2): T[:, 0, 2] + T[:, 2, 0],
        (1, 2): T[:, 1, 2] + T[:, 2, 1], (0, 3): T[:, 2, 1] - T[:, 1, 2],
        (1, 3): T[:, 0, 2] - T[:, 2, 0], (2, 3): T[:, 1, 0] - T[:, 0, 1]}
    for entry in range(4):
        terms = [squares[entry] if entry == other else products[min(entry, other),
                                                                max(entry, other)]
                 for other in range(4)]
        q[entry] = np.choose(largest, terms)
    q /= np.sqrt((q * q).sum(axis=0))
    q *= np.where(q[3] < 0.0, -1.0, 1.0)
    return q.T
