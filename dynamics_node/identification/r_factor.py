"""Compute the triangular factor of a matrix."""

from typing import cast

import numpy as np


def r_factor(A: np.ndarray) -> np.ndarray:
    """Return R of A = Q R, (min(m, n), n) of A (m, n); Q is not formed."""
    # NumPy's stub has the result QRResult for every mode; mode='r' returns R alone.
    return cast(np.ndarray, np.linalg.qr(A, mode='r'))
