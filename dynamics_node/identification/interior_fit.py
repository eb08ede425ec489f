r"""Fit physically consistent parameters by an interior-point method.

The problem is convex in the parameters pi themselves,

    |R pi - z|^2 / 2 - mu (sum_bodies log det P_i + sum_joints log p_j),    mu -> 0,

over bodies with pseudo-inertia P_i > 0 and p_j > 0 (P_i less that of a body of THINNEST radius, so
that it stays well above rounding). With P = U U' the second derivative of
-log det P is |U^-1 dP U^-T|^2, so that each Newton step is a linear least-squares problem and R'R,
whose condition number is the square of R's, is never formed (Boyd and Vandenberghe 2004, ch. 11).

It takes some hundred steps for any condition number, where least squares in the variables of
log_cholesky.py may creep along the boundary of consistent bodies. That happens to mechanisms with
loops: torques determine most of their many links only in combination.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dynamics_node.identification import log_cholesky
from dynamics_node.identification.parameters import NOT_NEGATIVE, ParameterLayout

GAP = 1e-4           # duality gap of the sum of squares, in units of noise, that ends the fit
SMALLER = 0.1        # factor on mu
CENTRED = 0.1        # Newton decrement, in units of sqrt(mu), below which mu is reduced
MAX_STEPS = 1000
TO_THE_BOUNDARY = 0.95  # share of the distance to the boundary that a step may cover
LONGEST, BISECTIONS = 10.0, 40   # of a step's length
SMALL = 1e-3         # of the standard deviation of the prior: start value of a p_j of zero
THINNEST = 2.0 * log_cholesky.RADIUS[0]   # [m] radius of a link with the mass of the prior
UPPER = np.triu_indices(4)
TWICE = np.where(UPPER[0] == UPPER[1], 1.0, np.sqrt(2.0))   # off-diagonal entries count twice
UNITS = np.stack([log_cholesky.pseudo_inertia(unit) for unit in np.eye(10)])   # (10, 4, 4)


class InteriorFit(NamedTuple):
    """The best consistent parameters."""

    values: np.ndarray    # (size,)
    converged: bool
    steps: int


def interior_fit(layout: ParameterLayout, R: np.ndarray, z: np.ndarray, start: np.ndarray,
                 spread: np.ndarray, tick: Callable[[], None] = lambda: None) -> InteriorFit:
    """Return the InteriorFit of min |R pi - z|.

    :param start: (size,) every body consistent; parameters in ParameterLayout.known are kept.
    :param spread: (size,) standard deviations of the prior.
    :param tick: called at each step; may raise to stop.
    """
    positive = np.concatenate([np.arange(layout.size)[layout.each(kind)] for kind in NOT_NEGATIVE])
    positive = positive[~layout.known[positive]]
    free = np.flatnonzero(~layout.known)
    x = start.copy()
    x[positive] = np.maximum(x[positive], SMALL * spread[positive])
    thinnest = np.zeros(layout.size)
    for i in range(len(layout.bodies)):
        at = layout.of_body(i)
        least = start[at][0] * THINNEST ** 2
        thinnest[at] = log_cholesky.ten_of(np.diag([least, least, least, 0.0]))
    terms = 4 * len(layout.bodies) + len(positive)
    mu = max(1.0, np.sum((R @ x - z) ** 2) / terms)
    for steps in range(1, MAX_STEPS + 1):
        tick()
        B, e = _barrier(layout, x - thinnest, positive)
        residual = R @ x - z
        scale = np.maximum(np.linalg.norm(R[:, free], axis=0), 1e-300)
        A = np.vstack([R[:, free], np.sqrt(mu) * B[:, free]])
        step = np.zeros(layout.size)
        step[free] = np.linalg.lstsq(A / scale, np.concatenate([-residual, np.sqrt(mu) * e]),
                                     rcond=None)[0] / scale
        decrement = np.sqrt(np.sum((R @ step) ** 2) / mu + np.sum((B @ step) ** 2))
        x = x + _length(residual, R @ step, mu, _rates(layout, B @ step)) * step
        if decrement < CENTRED:
            if mu * terms <= GAP:
                return InteriorFit(x, True, steps)
            mu *= SMALLER
    return InteriorFit(x, False, MAX_STEPS)


def _barrier(layout, x, positive):
    """Return (B, e): to second order a step d changes the barrier by |B d|^2 / 2 - e'B d."""
    B = np.zeros((10 * len(layout.bodies) + len(positive), layout.size))
    e = np.ones(len(B))
    for i in range(len(layout.bodies)):
        at = layout.of_body(i)
        inverse = np.linalg.inv(log_cholesky.upper_cholesky(log_cholesky.pseudo_inertia(x[at])))
        B[at, at] = (TWICE * (inverse @ UNITS @ inverse.T)[:, UPPER[0], UPPER[1]]).T
        e[at] = UPPER[0] == UPPER[1]
    B[10 * len(layout.bodies) + np.arange(len(positive)), positive] = 1.0 / x[positive]
    return B, e


def _rates(layout, change):
    """Return l of the barrier -sum log(1 + t l) along a step: eigenvalues of U^-1 dP U^-T, dp/p.

    :param change: B times the step.
    """
    bodies = change[:10 * len(layout.bodies)].reshape(-1, 10) / TWICE
    matrices = np.zeros((len(bodies), 4, 4))
    matrices[:, UPPER[0], UPPER[1]] = matrices[:, UPPER[1], UPPER[0]] = bodies
    return np.concatenate([np.linalg.eigvalsh(matrices).ravel(), change[10 * len(bodies):]])


def _length(residual, change, mu, rates):
    """Return the best length t of the step, by bisection of the increasing derivative."""
    boundary = TO_THE_BOUNDARY / max(1e-300, -rates.min(initial=0.0))
    low, high = 0.0, min(boundary, LONGEST)

    def slope(t):
        return change @ residual + t * (change @ change) - mu * np.sum(rates / (1.0 + t * rates))
    if slope(high) <= 0.0:
        return high
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return low
