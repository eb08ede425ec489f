"""Separate two convex hulls by a direction, which proves their distance.

The shortest vector between the hulls of A and of B is the point of least norm in the hull of all
differences b - a. Wolfe's method (Finding the nearest point in a polytope, Mathematical Programming
11, 1976) finds it with few of them: in each step the difference that is least along the present
vector is added, and those that the nearest point does not need are left out.
"""

import numpy as np

STEPS = 100
SETTLED = 1e-9     # relative: a further difference would shorten the vector by less
TINY = 1e-14       # [m^2] squared length of a vector: the hulls touch
UNUSED = 1e-12     # weight of a difference that the nearest point does not need


def separation(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, float]:
    """Return (unit direction (3,), gap [m] along it) from the hull of A to the hull of B.

    The gap is computed from all points, so that no rounding makes it larger than the distance of
    the hulls; it is that distance if the method converges. It is 0 or less where they touch.

    :param A, B: points (n, 3), (m, 3) [m].
    """
    vector = _nearest_difference(A, B)
    length = np.linalg.norm(vector)
    direction = vector / length if length > 0.0 else np.array([1.0, 0.0, 0.0])
    return direction, float((B @ direction).min() - (A @ direction).max())


def _nearest_difference(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the point of least norm in the hull of the differences b - a, (3,)."""
    chosen, weights = B[:1] - A[:1], np.ones(1)
    vector = chosen[0]
    for _ in range(STEPS):
        new = B[(B @ vector).argmin()] - A[(A @ vector).argmax()]
        size = vector @ vector
        if (size < TINY or size - vector @ new <= SETTLED * size
                or (chosen == new).all(axis=1).any()):
            break
        chosen, weights = _within_hull(np.vstack([chosen, new]), np.append(weights, 0.0))
        vector = weights @ chosen
    return vector


def _within_hull(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (points that the nearest point of their hull needs, their weights in it)."""
    while True:
        best = _affine_weights(points)
        if (best > UNUSED).all():
            return points, best
        down = best <= UNUSED
        share = (weights[down] / np.maximum(weights[down] - best[down], UNUSED)).min()
        weights = weights + min(share, 1.0) * (best - weights)
        keep = weights > UNUSED
        if keep.all():
            keep[weights.argmin()] = False
        points, weights = points[keep], weights[keep] / weights[keep].sum()


def _affine_weights(points: np.ndarray) -> np.ndarray:
    """Return the weights, of sum 1, of the point of least norm in the affine hull."""
    n = len(points)
    K = np.ones((n + 1, n + 1))
    K[:n, :n], K[n, n] = points @ points.T, 0.0
    return np.linalg.lstsq(K, np.append(np.zeros(n), 1.0), rcond=None)[0][:n]
