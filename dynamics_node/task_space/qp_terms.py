"""Compute the terms of small dense QPs, in NumPy: qp_terms.c has the same functions.

The package uses those of C where that extension was built (`fast_terms`): a QP of a whole-body step
has a dozen variables, and a call of NumPy takes longer than its work.
"""

import math

import numpy as np


def normal_equations(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (P, q) of the QP  min sum of weight (A u - b)^2 / 2:  P = A' W A,  q = -A' W b.

    :param rows: (t, k + 1) A, and -b as last column.
    :param weights: (t,); rows of weight zero are left out.
    """
    A = rows[:, :-1]
    weighted = A * weights[:, None]
    return weighted.T @ A, rows[:, -1] @ weighted


def rows_of_torques(G: np.ndarray, limits: np.ndarray, G_x: np.ndarray, of_x: np.ndarray
                    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (G, lower, upper): bounds of u and of x = X u + x0 as rows lower <= G u <= upper.

    :param G: (c, k) rows of u.
    :param limits: (2, m) lower and upper limits of the rows of u, then of those of x.
    :param G_x: (m - c, r) rows of x; of_x: (r, k + 1) X, and x0 as last column.
    """
    own = G_x @ of_x
    lower, upper = limits - np.concatenate([np.zeros(len(G)), own[:, -1]])
    return np.concatenate([G, own[:, :-1]]), lower, upper


def definiteness(P: np.ndarray) -> float:
    """Return the least pivot of P (n, n), symmetric, as a share of its diagonal entry.

    From 1 of a diagonal P to 0 of one that is not positive definite.
    """
    sizes = P.diagonal()
    if not (sizes > 0.0).all():
        return 0.0
    try:
        return float((np.linalg.cholesky(P).diagonal() ** 2 / sizes).min(initial=math.inf))
    except np.linalg.LinAlgError:
        return 0.0


def affine(rows: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return rows (u, 1), (t,).

    :param rows: (t, k + 1); u: (k,).
    """
    return rows[:, :-1] @ u + rows[:, -1]


def kkt(P: np.ndarray, q: np.ndarray, rows: np.ndarray, low: np.ndarray, high: np.ndarray,
        x: np.ndarray, forces: np.ndarray) -> tuple[np.ndarray, float]:
    """Return (gaps, residual) of  min x' P x / 2 + q' x  within limits, at x with multipliers.

    gaps: distance of each row to its nearer limit, relative to 1 + |row|. residual: the largest
    violation of stationarity (relative to its terms), of primal feasibility and of complementarity;
    nan if any term is.

    :param rows: (m, n); low, high: limits of the rows (m,), or of x and of the rows (n + m,).
    :param forces: multipliers, as many as limits: positive at an upper limit, zero where inactive.
    """
    value, curved = rows @ x, P @ x
    balance = curved + q + forces[len(forces) - len(rows):] @ rows
    if len(forces) > len(rows):
        value = np.concatenate([x, value])
        balance += forces[:len(x)]
    below, above, size = value - low, high - value, 1.0 + np.abs(value)
    gaps = np.minimum(below, above) / size
    pushed = np.abs(np.where(forces > 0.0, above, below)) / size
    missed = np.maximum(-gaps, np.where(forces != 0.0, pushed, -math.inf)).max(initial=-math.inf)
    scale = np.abs([curved, q]).max(initial=0.0) or 1.0
    return gaps, float(np.maximum(missed, np.abs(balance).max(initial=0.0) / scale))
