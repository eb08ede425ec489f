"""Decompose constraint rows of any rank in the mass metric (float only: an SVD)."""

from typing import NamedTuple

import numpy as np

from dynamics_node import linalg
from dynamics_node.algorithms.mass_matrix import SINGULAR
from dynamics_node.errors import SingularModel

# Rows are dependent where a singular value is no larger than this share of the largest, with rows
# of unit length in the mass metric: the root of a double's resolution. Rounding leaves about 1e-14
# of a zero; a leg bent by a millimetre has 1e-3.
# A row shorter than this share of the longest counts as zero: at unit length, its rounding errors
# would be as large as the threshold.
RANK = 1e-8


class Decomposition(NamedTuple):
    """The rows A (m, n) in the metric of M = L L': A L^-T at unit length = U diag(s) V'."""

    L: np.ndarray        # (n, n) lower triangular
    added: float         # added * A' A was added to M, see `decompose`
    length: np.ndarray   # (m,) of the rows of A L^-T; 1 where a row counts as zero
    U: np.ndarray        # (m, r)
    s: np.ndarray        # (r,) descending, at most sqrt(m)
    V: np.ndarray        # (n, r)
    clearance: float     # smallest nonzero singular value of A L^-T over the largest

    @property
    def rank(self) -> int:
        return len(self.s)

    def step(self, error: np.ndarray) -> np.ndarray:
        """Return the shortest x (n,) with A L^-T x = error, in least squares of unit rows."""
        return self.V @ (self.U.T @ (error / self.length) / self.s)

    def multipliers(self, x: np.ndarray) -> np.ndarray:
        """Return the shortest lambda (m,) with (A L^-T)' lambda = x."""
        return np.linalg.lstsq(self.U.T * self.length, (self.V.T @ x) / self.s, rcond=None)[0]

    def internal(self) -> np.ndarray:
        """Return an orthonormal basis of the multipliers without effect, A' z = 0, (m, m - r)."""
        return null_space(self.U.T * self.length)

    def free(self) -> np.ndarray:
        """Return a basis of the free accelerations, A z = 0, z' M z = 1."""
        return linalg.solve_triangular(self.L.T, null_space(self.V.T), lower=False)


def decompose(M: np.ndarray, A: np.ndarray) -> Decomposition:
    r"""Return the Decomposition of A in the metric of M, (n, n) symmetric.

    Where M is singular but A constrains every motion without inertia, M + s A' A replaces it: on
    motions that satisfy the constraints both are the same.

    :raise SingularModel: some motion without inertia is not constrained (failure condition 2, see
        classification.py).
    """
    L, added = _root(M, A)
    rows = linalg.solve_triangular(L, A.T, lower=True).T
    length = np.linalg.norm(rows, axis=1)
    is_zero = length <= RANK * length.max(initial=0.0)
    length = np.where(is_zero, 1.0, length)
    unit = np.where(is_zero[:, None], 0.0, rows / length[:, None])
    U, s, Vt = np.linalg.svd(unit, full_matrices=False)
    r = rank_of(s)
    sizes = np.linalg.svd(rows, compute_uv=False)
    clearance = float(sizes[r - 1] / sizes[0]) if r else np.inf
    return Decomposition(L, added, length, U[:, :r], s[:r], Vt[:r].T, clearance)


def rank_of(singular_values: np.ndarray, scale: float | None = None) -> int:
    """Return the number of singular values above RANK * scale.

    :param scale: the largest singular value if None.
    """
    scale = singular_values.max(initial=0.0) if scale is None else scale
    return int(np.sum(singular_values > RANK * scale))


def null_space(A: np.ndarray, scale: float | None = None) -> np.ndarray:
    """Return an orthonormal basis of the x with A x = 0, (n, n - rank); scale as in `rank_of`."""
    _, s, Vt = np.linalg.svd(A)
    return Vt[rank_of(s, scale):].T


def least_squares(A: np.ndarray, b: np.ndarray, scale: float) -> np.ndarray:
    """Return the shortest x of least |A x - b|; scale as in `rank_of`."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    r = rank_of(s, scale)
    return Vt[:r].T @ (U[:, :r].T @ b / s[:r])


def dependent_rows(A: np.ndarray, M: np.ndarray | None = None) -> list[int]:
    """Return the indices of the rows that depend on the rows before them.

    :param M: the metric, as for `decompose`; the identity if None.
    """
    rows = A if M is None else linalg.solve_triangular(_root(M, A)[0], A.T, lower=True).T
    length = np.linalg.norm(rows, axis=1)
    longest = length.max(initial=0.0)
    basis, dependent = np.zeros((0, rows.shape[1])), []
    for k, (row, size) in enumerate(zip(rows, length)):
        rest = row
        for _ in range(2):  # twice against rounding
            rest = rest - basis.T @ (basis @ rest)
        new = np.linalg.norm(rest)
        if size <= RANK * longest or new <= RANK * size:
            dependent.append(k)
        else:
            basis = np.vstack([basis, rest / new])
    return dependent


def _root(M: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, float]:
    """Return (L, s) with M + s A' A = L L'."""
    try:
        return _clear_root(M), 0.0
    except np.linalg.LinAlgError:
        square = A.T @ A
        scale = np.trace(M) / (np.trace(square) or 1.0)
    try:
        return _clear_root(M + scale * square), scale
    except np.linalg.LinAlgError:
        raise SingularModel(
            'failure condition 2: some motion has neither inertia nor a constraint, so its '
            'acceleration is not defined; give that link mass, or constrain it') from None


def _clear_root(M: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of a matrix that is positive definite beyond rounding."""
    L = np.linalg.cholesky(M)
    if np.any(np.diag(L) ** 2 <= SINGULAR * np.diag(M)):  # the pivots of the elimination
        raise np.linalg.LinAlgError('singular')
    return L
