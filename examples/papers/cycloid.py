"""Compute a cycloidal motion between two configurations: at rest at both ends."""

import numpy as np


def cycloid(t, start, end):
    """Return (q, v, a), (T, n) each, at the times t, which begin at 0 and end with the motion.

    q = start + (end - start) (s - sin(2 pi s) / 2 pi), s = t / duration.
    """
    duration = t[-1]
    angle = 2.0 * np.pi * t / duration
    way = np.asarray(end, dtype=float) - start
    share = (angle - np.sin(angle)) / (2.0 * np.pi)
    speed = (1.0 - np.cos(angle)) / duration
    rate = 2.0 * np.pi * np.sin(angle) / duration ** 2
    return start + np.outer(share, way), np.outer(speed, way), np.outer(rate, way)
