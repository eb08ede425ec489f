"""Convert homogeneous matrices of many rows to positions and quaternions."""

import numpy as np


def poses(T: np.ndarray) -> np.ndarray:
    """Return position and quaternion x y z w with w >= 0 of homogeneous matrices, (N, 7).

    Of the four formulas for a quaternion the one that divides by its largest entry is used, row by
    row (Shepperd 1978): exact to rounding for all angles.

    :param T: (N, 4, 4)
    """
    return np.concatenate([T[:, :3, 3].T, _quaternions(T)]).T


def _quaternions(T: np.ndarray) -> np.ndarray:
    """Return the quaternions x y z w, (4, N)."""
    n = len(T)
    xx, xy, xz, _, yx, yy, yz, _, zx, zy, zz = T.reshape(-1, 16).T[:11].copy()
    products = np.empty((4, 4, n))   # 4 times the products of two entries, x y z w
    products[0, 0] = 1.0 + xx - yy - zz
    products[1, 1] = 1.0 - xx + yy - zz
    products[2, 2] = 1.0 - xx - yy + zz
    products[3, 3] = 1.0 + xx + yy + zz
    for i, j, found in ((0, 1, xy + yx), (0, 2, xz + zx), (1, 2, yz + zy),
                        (0, 3, zy - yz), (1, 3, xz - zx), (2, 3, yx - xy)):
        products[i, j] = products[j, i] = found
    x_or_y = products[1, 1] > products[0, 0]
    z_or_w = products[3, 3] >= products[2, 2]
    first = np.maximum(products[0, 0], products[1, 1])
    second = np.maximum(products[2, 2], products[3, 3])
    largest = np.where(second >= first, 2 + z_or_w, x_or_y)
    # a row of products times 1 / (2 |largest entry|), with the sign that makes w positive
    if n and largest.min() == largest.max():
        chosen = products[largest[0]]
    else:
        chosen = np.take(products.reshape(4, -1), largest * n + np.arange(n), axis=1)
    scale = np.copysign(0.5 / np.sqrt(np.maximum(first, second)), chosen[3])
    return np.multiply(chosen, scale, out=chosen)
