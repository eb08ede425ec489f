r"""Find the nearest point in the set of physically consistent parameters: interior points.

    min |w - target|^2    with  P_i(w) >= 0  of each body,  p_j(w) >= 0  of some joint parameters,

P_i, the pseudo-inertia of a body, and p_j are affine in w. The problem is convex: linear matrix
inequalities. Newton's method minimises

    |w - target|^2 / 2 - mu (sum_i log det P_i + sum_j log p_j),    mu -> 0

(Boyd and Vandenberghe 2004, ch. 11). A Newton step d at mu also gives a dual point,
Z = mu (P^-1 - P^-1 dP P^-1). If all eigenvalues l of P^-1 dP are within -1 and 1, w + d and Z are
feasible and differ in value by mu sum (1 - l^2): no consistent parameters are better than w + d
by more than this duality gap. It is the certificate of the result.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dynamics_node import linalg
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.pseudo_inertia import UNITS
from dynamics_node.identification.r_factor import r_factor

GAP = 1e-9           # duality gap that ends the fit, over 1 + the sum of squares
SMALLER = 0.1        # factor on mu
CENTRED = 0.9        # greatest |l| of a full step
MAX_STEPS = 300
TO_THE_BOUNDARY = 0.95  # share of the distance to the boundary that a step may cover
LONGEST, BISECTIONS = 10.0, 40   # of a step's length
UPPER = np.triu_indices(4)
TWICE = np.where(UPPER[0] == UPPER[1], 1.0, np.sqrt(2.0))   # off-diagonal entries count twice


class ConsistentSet(NamedTuple):
    """Parameters as functions of w: bodies[i] + by_body[i] w, joints + by_joint w."""

    bodies: np.ndarray     # (n, 10) inertial parameters at w = 0
    by_body: np.ndarray    # (n, 10, k)
    joints: np.ndarray     # (m,) parameters that are not negative, at w = 0
    by_joint: np.ndarray   # (m, k)


class NearestPoint(NamedTuple):
    """The nearest point, with the proof that there is none nearer."""

    w: np.ndarray      # (k,)
    squares: float     # |w - target|^2
    gap: float         # no point of the set has a sum of squares below squares - gap
    steps: int         # of Newton's method


def nearest_point(within: ConsistentSet, target: np.ndarray, start: np.ndarray,
                  tick: Callable[[], None] = lambda: None) -> NearestPoint:
    """Return the NearestPoint of a set to a target, (k,).

    :param start: (k,) inside the set.
    :param tick: called at each step; may raise to stop.
    :raise DynamicsError: the gap did not close.
    """
    w = start
    terms = 4 * len(within.bodies) + len(within.joints)
    mu = max(1.0, np.sum((w - target) ** 2)) / max(1, terms)
    for steps in range(1, MAX_STEPS + 1):
        tick()
        B, e = _barrier(within, w)
        d = _least_squares(np.sqrt(mu) * B, target - w, np.sqrt(mu) * e)
        change = B @ d
        rates = _rates(len(within.bodies), change)
        if np.abs(rates).max(initial=0.0) > CENTRED:
            w = w + _length(w - target, d, mu, rates) * d
            continue
        w = w + d
        squares = np.sum((w - target) ** 2)
        # d solves Newton's equation but for rounding; |rest|^2 / 2 bounds what that changes.
        rest = w - target - mu * (B.T @ (e - change))
        gap = 2.0 * mu * np.sum(1.0 - rates ** 2) + np.sum(rest ** 2)
        if gap <= GAP * (1.0 + squares):
            return NearestPoint(w, float(squares), float(gap), steps)
        mu *= SMALLER
    raise DynamicsError(
        f'the fit of consistent links did not converge in {MAX_STEPS} steps: the torques '
        'contradict the robot. Check the units and signs of efforts, and the URDF')


def _least_squares(B: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return d of min |d - a|^2 + |B d - b|^2.

    A step of Newton's method is of this form, since the second derivative of the barrier is B'B;
    B'B, whose condition number is the square of B's, is never formed.
    """
    k = len(a)
    R = r_factor(np.vstack([np.column_stack([np.eye(k), a]), np.column_stack([B, b])]))
    return linalg.solve_triangular(R[:k, :k], R[:k, k])


def _barrier(within: ConsistentSet, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (B, e): to second order a step d changes the barrier by |B d|^2 / 2 - e'B d."""
    n, k = len(within.bodies), len(w)
    P = np.tensordot(within.bodies + within.by_body @ w, UNITS, 1)
    inverse = np.linalg.inv(np.linalg.cholesky(P))[:, None]
    units = (inverse @ UNITS @ inverse.swapaxes(-1, -2))[..., UPPER[0], UPPER[1]] * TWICE
    p = within.joints + within.by_joint @ w
    B = np.vstack([(units.swapaxes(-1, -2) @ within.by_body).reshape(10 * n, k),
                   within.by_joint / p[:, None]])
    return B, np.concatenate([np.tile(UPPER[0] == UPPER[1], n), np.ones(len(p))])


def _rates(n: int, change: np.ndarray) -> np.ndarray:
    """Return l of the barrier -sum log(1 + t l) along a step: eigenvalues of P^-1 dP, dp/p.

    :param change: B times the step.
    """
    matrices = np.zeros((n, 4, 4))
    entries = change[:10 * n].reshape(-1, 10) / TWICE
    matrices[:, UPPER[0], UPPER[1]] = matrices[:, UPPER[1], UPPER[0]] = entries
    return np.concatenate([np.linalg.eigvalsh(matrices).ravel(), change[10 * n:]])


def _length(away: np.ndarray, d: np.ndarray, mu: float, rates: np.ndarray) -> float:
    """Return the best length t of the step d, by bisection of the increasing derivative."""
    boundary = TO_THE_BOUNDARY / max(1e-300, -rates.min(initial=0.0))
    low, high = 0.0, min(boundary, LONGEST)

    def slope(t: float) -> float:
        return d @ away + t * (d @ d) - mu * np.sum(rates / (1.0 + t * rates))
    if slope(high) <= 0.0:
        return high
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return low
