"""Compute the matrix exponential without code of the package."""

import numpy as np


def matrix_exponential(A):
    """Return exp(A) by scaling, a Taylor series of order 18 and squaring."""
    A = np.asarray(A, dtype=float)
    squarings = max(0, int(np.ceil(np.log2(max(np.abs(A).sum(), 1e-300)))) + 3)
    X = A / 2.0 ** squarings
    term = total = np.eye(len(A))
    for k in range(1, 19):
        term = term @ X / k
        total = total + term
    for _ in range(squarings):
        total = total @ total
    return total
