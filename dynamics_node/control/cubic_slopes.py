"""Compute the slopes of the cubic spline through timed points.

scipy.interpolate.CubicSpline gives the same numbers, but its import takes 0.1 s longer than that of
scipy.linalg.
"""

import numpy as np

from dynamics_node import linalg


def clamped_slopes(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the slopes at the points of the C2 cubic spline that is at rest at both ends, (N, n).

    :param times: (N,), strictly increasing, N >= 2 [s].
    :param values: (N, n).
    """
    h, d = _steps(times, values)
    bands, right = _inner_rows(h, d)
    bands[1, 0] = bands[1, -1] = 1.0
    return linalg.solve_banded((1, 1), bands, right, check_finite=False)


def free_slopes(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the slopes at the points of the C2 cubic spline with not-a-knot ends, (N, n).

    Its third derivative is continuous at the second and at the last but one point. Three points
    have the parabola through them, two the straight line.

    :param times: (N,), strictly increasing, N >= 2 [s].
    :param values: (N, n).
    """
    h, d = _steps(times, values)
    if len(times) == 2:
        return np.vstack([d, d])
    if len(times) == 3:
        bend = (d[1] - d[0]) / (h[0] + h[1])
        return np.array([d[0] - h[0] * bend, d[0] + h[0] * bend, d[1] + h[1] * bend])
    bands, right = _inner_rows(h, d)
    bands[1, 0], bands[0, 1] = h[1], h[0] + h[1]
    right[0] = _free_end(h[0], h[1], d[0], d[1])
    bands[1, -1], bands[2, -2] = h[-2], h[-2] + h[-1]
    right[-1] = _free_end(h[-1], h[-2], d[-1], d[-2])
    return linalg.solve_banded((1, 1), bands, right, check_finite=False)


def second_derivatives(times: np.ndarray, values: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return the second derivatives at the points of the cubic spline with these slopes, (N, n)."""
    h, d = _steps(times, values)
    starts = (6.0 * d - 4.0 * slopes[:-1] - 2.0 * slopes[1:]) / h[:, None]
    end = (2.0 * slopes[-2] + 4.0 * slopes[-1] - 6.0 * d[-1]) / h[-1]
    return np.vstack([starts, end])


def _steps(times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths of the segments, (N - 1,), and their mean slopes, (N - 1, n)."""
    h = np.diff(times)
    return h, np.diff(values, axis=0) / h[:, None]


def _inner_rows(h: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bands, (3, N), and the right side, (N, n), of the rows of the inner points.

    The second derivative is continuous at point k, h_k being the step after it:
    h_k s_k-1 + 2 (h_k-1 + h_k) s_k + h_k-1 s_k+1 = 3 (h_k d_k-1 + h_k-1 d_k).
    """
    bands, right = np.zeros((3, len(h) + 1)), np.zeros((len(h) + 1, d.shape[1]))
    bands[2, :-2] = h[1:]
    bands[1, 1:-1] = 2.0 * (h[:-1] + h[1:])
    bands[0, 2:] = h[:-1]
    right[1:-1] = 3.0 * (h[1:, None] * d[:-1] + h[:-1, None] * d[1:])
    return bands, right


def _free_end(h: float, next_h: float, d: np.ndarray, next_d: np.ndarray) -> np.ndarray:
    """Return the right side of the row of an end; the steps are counted from that end."""
    both = h + next_h
    return ((h + 2.0 * both) * next_h * d + h ** 2 * next_d) / both
