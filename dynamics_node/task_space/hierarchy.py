"""Solve hierarchies of linear tasks A_i x = b_i in least squares, by priority (float only: ranks).

Hutter 2017, algorithm 2.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dynamics_node import linalg
from dynamics_node.constrained.row_decomposition import RANK, rank_of

# A task controls directions with singular values above RANK (a share of the norm of the task);
# those below UNFELT are free for lower tasks. Directions between the two stay unused: the task
# cannot control them, but a lower task would disturb it there.
UNFELT = 1e-12


def hierarchical_least_squares(tasks: Sequence[tuple[np.ndarray, np.ndarray]],
                               damping: float = 0.0) -> np.ndarray:
    r"""Return x (n,) of least |A_1 x - b_1|, among those of least |A_2 x - b_2|, and so on.

    x_i = (A_i N_i)^+ (b_i - A_i x),   x <- x + N_i x_i,   A_k N_i = 0 for all k < i.

    Among several solutions x is the shortest.

    :param tasks: pairs (A_i (m_i, n), b_i (m_i,)), of any rank, m_i may be zero; at least one.
    :param damping: each x_i minimises |.|^2 + damping^2 |x_i|^2 instead (eq. 2.195); the freedom
        that a task loses by damping is not given to lower tasks.

    Hutter 2017, algorithm 2 and eq. 3.101-3.106. N_i is an orthonormal basis here, not a projector:
    A_i N_i has as many columns as there is freedom left, so that rounding does not hide its rank.
    The next basis is N_i times the null space of A_i N_i; the stack of all A is never formed.
    """
    n = np.shape(tasks[0][0])[1]
    x, N = np.zeros(n), identity(n)
    for A, b in tasks:
        parts = factors(A @ N, norm(A), damping)
        x = x + N @ parts.solved(b - A @ x)
        N = N @ parts.free
    return x


class LevelFactors(NamedTuple):
    """Factors of A (m, n) of rank r, for x = T u + rest w with |A x| = |u|."""

    U: np.ndarray     # (m, r) orthonormal, A T = U
    T: np.ndarray     # (n, r) normal to the rest
    rest: np.ndarray  # (n, n - r) orthonormal, A rest = 0
    weak: int         # number of its first columns with singular values above UNFELT

    def solved(self, b: np.ndarray) -> np.ndarray:
        """Return the shortest x of least |A x - b|."""
        return self.T @ (self.U.T @ b)

    @property
    def free(self) -> np.ndarray:
        """Orthonormal basis of the directions that are free for lower tasks."""
        return self.rest[:, self.weak:]


def factors(A: np.ndarray, scale: float, damping: float = 0.0) -> LevelFactors:
    """Return the LevelFactors of A; with damping, T is that of damped least squares.

    The rank is counted by singular values. Where A has clearly full rank, a QR replaces the SVD,
    which takes four times as long.

    :param scale: scale of the rank test: the norm of the task, of which A may be a projection.
    """
    m, n = A.shape
    if norm(A) <= UNFELT * scale:  # no singular value is above the norm
        return LevelFactors(np.zeros((m, 0)), np.zeros((n, 0)), identity(n), 0)
    if not damping:
        found = _of_full_rank(A)
        if found is not None and norm(found.T) * RANK * scale < 1.0:  # none is below 1 / |T|
            return found
    U, s, Vt = np.linalg.svd(A)
    r = rank_of(s, scale)
    felt = int(np.sum(s > UNFELT * scale))
    return LevelFactors(U[:, :r], Vt[:r].T * (s[:r] / (s[:r] ** 2 + damping ** 2)), Vt[r:].T,
                        felt - r)


def null_space(A: np.ndarray, scale: float) -> np.ndarray:
    """Return `factors(A, scale).rest`, an orthonormal basis, (n, n - r).

    By a QR with pivots where that shows the rank, as for rows that repeat each other; else by the
    SVD, which takes four times as long.
    """
    m, n = A.shape
    R, _, reflectors, *_ = linalg.lapack.dgeqp3(A.T)
    r = np.count_nonzero(np.abs(R.diagonal()) > UNFELT * scale)
    # Singular values: r of them are at least 1 / |R1^-1|, the others at most |R2|.
    if norm(R[r:, r:] * _upper(n - r, m - r)) <= UNFELT * scale:
        if r == 0:   # LAPACK writes to stdout of an empty matrix
            return identity(n)
        inverse, singular = linalg.lapack.dtrtri(R[:r, :r])
        if not singular and norm(inverse * _upper(r, r)) * RANK * scale < 1.0:
            Q = np.zeros((n, n), order='F')
            Q[:, :min(m, n)] = R[:, :n]
            return linalg.lapack.dorgqr(Q, reflectors, overwrite_a=1)[0][:, r:]
    return factors(A, scale).rest


def _of_full_rank(A: np.ndarray) -> LevelFactors | None:
    """Return the LevelFactors of A by QR as if its rank were m or n; None if R is singular.

    A' = (Q1 Q2) (R 0)' has A T = 1 with T = Q1 R^-T, and rest = Q2; A = Q1 R has T = R^-1.
    """
    m, n = A.shape
    r = min(m, n)
    R, reflectors, *_ = linalg.lapack.dgeqrf(A.T if m <= n else A)
    inverse, singular = linalg.lapack.dtrtri(R[:r])  # dtrtrs was slower on busy cores
    if singular:
        return None
    inverse *= _upper(r, r)
    Q = np.empty((len(R), n if m <= n else r), order='F')
    Q[:, :r] = R
    Q, *_ = linalg.lapack.dorgqr(Q, reflectors, overwrite_a=1)
    if m <= n:
        return LevelFactors(identity(m), Q[:, :r] @ inverse.T, Q[:, r:], 0)
    return LevelFactors(Q, inverse, np.zeros((n, 0)), 0)


@lru_cache(maxsize=64)
def identity(n: int) -> np.ndarray:
    """Return the identity, (n, n), read-only: all callers share it."""
    one = np.eye(n)
    one.flags.writeable = False
    return one


@lru_cache(maxsize=256)
def _upper(m: int, n: int) -> np.ndarray:
    return np.triu(np.ones((m, n)))


def norm(A: np.ndarray) -> float:
    """Return the Frobenius norm (np.linalg.norm has more overhead)."""
    return math.sqrt(np.vdot(A, A))
