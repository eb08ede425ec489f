"""Solve small dense symmetric systems on floats or symbols (np.linalg takes floats only)."""

import functools

import numpy as np


def factor(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (L, d) with A = L' diag(d) L, L unit lower triangular, A symmetric.

    Elimination begins at the last row. For the mass matrix of a tree, numbered from the root out,
    this order leaves every structural zero a zero (Featherstone 2008, section 6.5).
    """
    A = np.array(A)
    n = len(A)
    L = np.eye(n).astype(A.dtype)
    for k in range(n - 1, 0, -1):
        L[k, :k] = A[k, :k] / A[k, k]
        A[:k, :k] = A[:k, :k] - L[k, :k, None] * A[k, :k]
    return L, np.diag(A)


def solve_factored(L: np.ndarray, d: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return X with L' diag(d) L X = B, B (n,) or (n, k)."""
    if len(d) == 1:
        return B / d
    return second_half(L, d, first_half(L, B))


def first_half(L: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return Y with L' Y = B: then B' A^-1 B = Y' diag(1/d) Y."""
    Y = np.array(B, dtype=np.result_type(B, L))
    for k in range(len(L) - 1, 0, -1):
        Y[:k] = Y[:k] - _times(L[k, :k], Y[k])
    return Y


def second_half(L: np.ndarray, d: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return X with diag(d) L X = Y."""
    X = Y / (d if Y.ndim == 1 else d[:, None])
    for k in range(1, len(d)):
        X[k] = X[k] - L[k, :k] @ X[:k]
    return X


def _times(a: np.ndarray, row: np.ndarray) -> np.ndarray:
    return a * row if np.ndim(row) == 0 else a[:, None] * row


def symmetric(A: np.ndarray) -> np.ndarray:
    """Return A with its lower triangle read from the upper: symmetric to the last bit.

    A may be one column of whole rows, see compiler/row_statements.py.
    """
    if A.shape == (len(A), 1) and len(A) > 1:
        return A[0, 0].mirrored(A)
    if len(A) == 1:
        return A
    return np.where(_lower(len(A)), A.T, A)


@functools.cache
def _lower(n: int) -> np.ndarray:
    """Return which entries of an n x n matrix are on or below its diagonal."""
    return np.tri(n, dtype=bool)
