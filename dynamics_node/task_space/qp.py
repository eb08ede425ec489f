r"""Which x makes x' P x / 2 + q' x least between bounds? One small function around the solver.

The solver is DAQP (MIT licence), a dual active-set method; Arnstrom, Bemporad and Axehill 2022.
In a race on the whole-body problem of a quadruped with 30 variables, 18 equalities and 28
inequalities (medians, one core) it took 41 us; quadprog, which is GPL, 114, PIQP 381, ProxQP 455
(asked for 1e-9, the others for 1e-10), Clarabel 1960, OSQP 3700. Its forces balanced to 6e-15, the
best of those that tell them; limits were missed by 6e-12, where PIQP and Clarabel had 1e-14. It
finds at once that a problem is infeasible. Starting it from the last active set won 0.2 us of 24:
hence there is no warm start.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError

EQUALITY = 5          # DAQP's `sense` of a row that is always active
UNLIMITED = 1e30      # what DAQP takes for infinity
# By how much a row of unit length may be missed. A set of only one point is still found.
TOLERANCE = 1e-10
TOUCHING = 1e-7       # the second try: sets that meet in a point up to rounding
ACCURATE = 1e-6       # what the KKT conditions may be missed by, relative to what they add up
INFEASIBLE = -1       # DAQP's exit flag
CONTRADICTION = -6    # the same, of the equalities alone


class QpSolution(NamedTuple):
    """The solution, and what holds it there. Where it is not solved, x and the rest mean nothing.

    The multipliers are those of P x + q + G' rows + bounds + A' equalities = 0: positive at an
    upper limit, negative at a lower one, zero where nothing is touched.
    """

    x: np.ndarray           # (n,)
    status: str             # 'solved', 'infeasible', or 'failed': P is not as it should be, say
    rows: np.ndarray        # (m,) multipliers of G
    bounds: np.ndarray      # (n,) of lb and ub
    equalities: np.ndarray  # (p,) of A
    residual: float         # how far the KKT conditions are missed, relative to their terms

    @property
    def solved(self):
        return self.status == 'solved'


def solve_qp(P, q, G=None, lower=None, upper=None, lb=None, ub=None, A=None, b=None):
    r"""Return the QpSolution of the problem

    min x' P x / 2 + q' x,   lower <= G x <= upper,   lb <= x <= ub,   A x = b.

    :param P: (n, n) symmetric, positive definite; q: (n,).
    :param G: (m, n), limits (m,); None for none. Infinite limits are none.
    :param lb, ub: (n,); None for none.
    :param A: (p, n), b (p,); rows may repeat each other.

    An answer is 'solved' only if the conditions of Karush, Kuhn and Tucker hold by our own count,
    whatever the solver says.
    """
    solve = _solver()
    n = len(q)
    m, p = (0 if M is None else len(M) for M in (G, A))
    low, high = np.empty((2, n + m + p))
    for first, last, least, most in ((0, n, lb, ub), (n, n + m, lower, upper),
                                     (n + m, n + m + p, b, b)):
        low[first:last] = -UNLIMITED if least is None else least
        high[first:last] = UNLIMITED if most is None else most
    np.maximum(low, -UNLIMITED, out=low)
    np.minimum(high, UNLIMITED, out=high)
    if (low > high).any():
        return _nothing(n, m, p, 'infeasible')
    rows = np.concatenate([np.zeros((0, n)), *(M for M in (G, A) if M is not None)])
    sense = np.zeros(n + m + p, dtype=np.int32)
    sense[n + m:] = EQUALITY
    P, q = np.ascontiguousarray(P), np.ascontiguousarray(q)
    for tolerance in (TOLERANCE, TOUCHING):
        x, _, flag, info = solve(P, q, rows, high, low, sense, primal_tol=tolerance)
        if flag != INFEASIBLE:
            break
    if flag != 1:
        return _nothing(n, m, p, 'infeasible' if flag in (INFEASIBLE, CONTRADICTION) else 'failed')
    forces = info['lam']
    residual = _residual(P, q, rows, low, high, x, forces)
    status = 'solved' if residual <= ACCURATE else 'failed'
    return QpSolution(x, status, forces[n:n + m], forces[:n], forces[n + m:], residual)


def _residual(P, q, rows, low, high, x, forces):
    """Return the largest of: the forces do not balance, a limit is broken, one pushes from afar.

    It is nan where anything is.
    """
    n = len(q)
    curved = P @ x
    balance = curved + q + forces[n:] @ rows + forces[:n]
    size = max(np.abs(curved).max(initial=0.0), np.abs(q).max(initial=0.0)) or 1.0
    where = np.concatenate([x, rows @ x])
    # From the limit that pushes; where none does, from the nearer one, and negative between both.
    afar = np.where(forces, np.abs(where - np.where(forces > 0.0, high, low)),
                    np.maximum(where - high, low - where))
    return float(np.maximum(np.abs(balance).max(initial=0.0) / size,
                            (afar / (1.0 + np.abs(where))).max(initial=0.0)))


def _nothing(n, m, p, status):
    return QpSolution(np.full(n, np.nan), status, np.zeros(m), np.zeros(n), np.zeros(p), np.inf)


def _solver():
    try:
        from daqp import solve
    except ImportError as error:
        raise DynamicsError('problems with inequalities need the QP solver DAQP: '
                            'pip install "daqp>=0.10"') from error
    return solve
