"""Convert homogeneous matrices of many rows to positions and quaternions."""

import numpy as np


def poses(T: np.ndarray) -> np.ndarray:
    """Return position and quaternion x y z w with w >= 0 of homogeneous matrices, (N, 7).

    Of the four formulas for a quaternion the one that divides by its largest entry is used, row by
    row (Shepperd 1978): exact to rounding for all angles.

    :param T: (N, 4, 4)
    """
    return np.concatenate([T[:, :3, 3].T, _quaternions(T)]).T


def _quaternions(T):
    """Return them, (4, N)."""
    xx, xy, xz, _, yx, yy, yz, _, zx, zy, zz = T.reshape(-1, 16).T[:11].copy()
    trace = xx + yy + zz
    out = np.empty((4, len(T)))
    w_largest = trace >= np.maximum(np.maximum(xx, yy), zz)
    x_largest = ~w_largest & (xx >= np.maximum(yy, zz))
    y_largest = ~w_largest & ~x_largest & (yy >= zz)
    for entry, mask in enumerate((x_largest, y_largest, ~(w_largest | x_largest | y_largest),
                                  w_largest)):
        if not mask.any():
            continue
        rows = slice(None) if mask.all() else np.flatnonzero(mask)
        a, b, c = zy[rows] - yz[rows], xz[rows] - zx[rows], yx[rows] - xy[rows]
        if entry == 3:
            square = 1.0 + trace[rows]   # 4 times the square of the entry
            products = (a, b, c, square)   # 4 times this entry times (x, y, z, w)
        else:
            square = 1.0 + 2.0 * (xx, yy, zz)[entry][rows] - trace[rows]
            d, e, f = xy[rows] + yx[rows], xz[rows] + zx[rows], yz[rows] + zy[rows]
            products = ((square, d, e, a), (d, square, f, b), (e, f, square, c))[entry]
        scale = np.copysign(0.5 / np.sqrt(square), products[3])   # w is not negative
        for k, product in enumerate(products):
            out[k, rows] = product * scale
    return out
