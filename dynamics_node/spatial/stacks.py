"""Multiply and transpose stacks of matrices: one matrix, or a batch of them."""

import numpy as np


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return A x of each matrix A (.., m, n) and vector x (.., n), (.., m)."""
    return (A @ x[..., None])[..., 0]


def transposed(A: np.ndarray) -> np.ndarray:
    """Return A' of each matrix A (.., m, n), (.., n, m)."""
    return A.swapaxes(-1, -2)
