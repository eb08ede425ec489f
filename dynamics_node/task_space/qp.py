r"""Solve strictly convex quadratic programs with DAQP, and verify the solution.

DAQP (MIT licence) is a dual active-set method; Arnstrom, Bemporad and Axehill 2022. On the
whole-body problem of a quadruped with 30 variables, 18 equalities and 28 inequalities (medians, one
core) it took 41 us; quadprog, which is GPL, 114, PIQP 381, ProxQP 455 (tolerance 1e-9, the others
1e-10), Clarabel 1960, OSQP 3700. Its stationarity residual was 6e-15, the best of those that return
multipliers; limits were exceeded by 6e-12, with PIQP and Clarabel by 1e-14. It detects infeasible
problems at once. A warm start from the last active set saved 0.2 us of 24, so there is none.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.errors import DynamicsError
from dynamics_node.task_space.fast_terms import kkt

EQUALITY = 5          # DAQP's `sense` of a row that is always active
# Primal tolerance of a row of unit length. A feasible set of a single point is still found.
TOLERANCE = 1e-10
TOUCHING = 1e-7       # tolerance of a second attempt, if the feasible set is a point up to rounding
ACCURATE = 1e-6       # greatest residual of the KKT conditions, relative to the size of their terms
INFEASIBLE = -1       # DAQP's exit flag: no feasible point
CONTRADICTION = -6    # DAQP's exit flag: the equalities contradict each other

Status = Literal['solved', 'infeasible', 'failed']   # failed: for example, P is not definite


class QpSolution(NamedTuple):
    """The solution and its multipliers; undefined unless the status is 'solved'.

    The multipliers are those of P x + q + G' rows + bounds + A' equalities = 0: positive at an
    upper limit, negative at a lower one, zero where inactive.
    """

    x: np.ndarray           # (n,)
    status: Status
    rows: np.ndarray        # (m,) multipliers of G
    bounds: np.ndarray      # (n,) of lb and ub
    equalities: np.ndarray  # (p,) of A
    residual: float         # of the KKT conditions, relative to their terms
    # (m,) distance of each row of G to its nearer limit, relative to 1 + |row|: about zero where
    # active, inf where the row has no limit
    gaps: np.ndarray

    @property
    def solved(self) -> bool:
        return self.status == 'solved'


def solve_qp(P: np.ndarray, q: np.ndarray, G: np.ndarray | None = None,
             lower: np.ndarray | None = None, upper: np.ndarray | None = None,
             lb: np.ndarray | None = None, ub: np.ndarray | None = None,
             A: np.ndarray | None = None, b: np.ndarray | None = None) -> QpSolution:
    r"""Return the QpSolution of the problem

    min x' P x / 2 + q' x,   lower <= G x <= upper,   lb <= x <= ub,   A x = b.

    :param P: (n, n) symmetric, positive definite; q: (n,).
    :param G: (m, n), limits (m,); None for none. Infinite limits are allowed.
    :param lb, ub: (n,); None for none.
    :param A: (p, n), b (p,); rows may be redundant.

    The status is 'solved' only if the KKT conditions hold, which is verified here.
    """
    return PreparedQp(P, G, lower, upper, lb, ub, A, b).solved(q)


class PreparedQp:
    """The problem of `solve_qp` for one P and one set of rows, and several q."""

    def __init__(self, P: np.ndarray, G: np.ndarray | None = None, lower: np.ndarray | None = None,
                 upper: np.ndarray | None = None, lb: np.ndarray | None = None,
                 ub: np.ndarray | None = None, A: np.ndarray | None = None,
                 b: np.ndarray | None = None) -> None:
        n = len(P)
        m, p = 0 if G is None else len(G), 0 if A is None else len(A)
        k = n if lb is not None or ub is not None or not m + p else 0  # bounds of x, the first rows
        self._counts = n, m, p, k
        self._sense = None
        if G is not None and m and not k and not p and lower is not None and upper is not None:
            self._low, self._high, self._rows = (
                _writeable(lower), _writeable(upper), _writeable(G))
        else:
            self._low = _stacked((k, lb, -np.inf), (m, lower, -np.inf), (p, b, b))
            self._high = _stacked((k, ub, np.inf), (m, upper, np.inf), (p, b, b))
            self._rows = np.concatenate([np.zeros((0, n)),
                                         *(M for M, count in ((G, m), (A, p)) if count)])
        if p:
            self._sense = np.zeros(k + m + p, dtype=np.int32)
            self._sense[k + m:] = EQUALITY
        self._P = _writeable(P)

    def minimum(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, Status]:
        """Return x, all multipliers and the status, which is not verified yet."""
        solve, q = _solver(), _writeable(q)
        for tolerance in (TOLERANCE, TOUCHING):
            x, _, flag, info = solve(self._P, q, self._rows, self._high, self._low, self._sense,
                                     primal_tol=tolerance)
            if flag != INFEASIBLE or self._crossed():
                break
        if flag == 1:
            return x, info['lam'], 'solved'
        return x, q, 'infeasible' if flag in (INFEASIBLE, CONTRADICTION) else self._unsolved()

    def _crossed(self) -> bool:
        """Return whether a lower limit is above its upper one, which DAQP may not notice."""
        return bool((self._low > self._high).any())

    def _unsolved(self) -> Status:
        return 'infeasible' if self._crossed() else 'failed'

    def solved(self, q: np.ndarray) -> QpSolution:
        """Return the QpSolution."""
        return self.verified(q, *self.minimum(q))

    def verified(self, q: np.ndarray, x: np.ndarray, forces: np.ndarray, status: Status
                 ) -> QpSolution:
        """Return the QpSolution of a `minimum`: 'failed' if the KKT conditions do not hold."""
        n, m, p, k = self._counts
        if status != 'solved':
            return QpSolution(np.full(n, np.nan), status, np.zeros(m), np.zeros(n), np.zeros(p),
                              np.inf, np.full(m, np.nan))
        gaps, residual = kkt(self._P, q, self._rows, self._low, self._high, x, forces)
        return QpSolution(x, 'solved' if residual <= ACCURATE else self._unsolved(),
                          forces[k:k + m], forces[:k] if k else np.zeros(n), forces[k + m:],
                          residual, gaps[k:k + m])


def gaps_of(G: np.ndarray, lower: np.ndarray, upper: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the gaps of rows G at x, as in QpSolution, (m,)."""
    value = G @ x
    return np.minimum(value - lower, upper - value) / (1.0 + np.abs(value))


def _writeable(M: np.ndarray) -> np.ndarray:
    """Return M, or a copy if it is not contiguous or read-only: daqp refuses such memory."""
    return M if M.flags.c_contiguous and M.flags.writeable else M.copy(order='C')


def _stacked(*parts: tuple[int, np.ndarray | None, ArrayLike | None]) -> np.ndarray:
    """Return the limits of all rows, from parts (count, limits or None, default)."""
    given = [np.full(count, default) if limits is None else limits
             for count, limits, default in parts if count]
    return np.concatenate([np.zeros(0), *given])


def _solver() -> Callable:
    try:
        from daqp import solve
    except ImportError as error:
        raise DynamicsError('problems with inequalities need the QP solver DAQP: '
                            'pip install "daqp>=0.10"') from error
    return solve
