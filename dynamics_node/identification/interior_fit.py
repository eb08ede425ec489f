r"""Which possible robot explains the torques best? By an interior-point method.

What is to be minimised is convex in the parameters pi themselves,

    |R pi - z|^2 / 2 - mu (sum_bodies log det P_i + sum_joints log p_j),    mu -> 0,

over bodies with pseudo-inertia P_i > 0 and p_j > 0 (P_i less what a body of THINNEST radius has, so
that its numbers are clear of rounding). With P = U U' the second derivative of
-log det P is |U^-1 dP U^-T|^2, so that each Newton step is a linear least-squares problem and R'R,
whose condition number is the square of R's, is never formed (Boyd and Vandenberghe 2004, ch. 11).

It takes some hundred steps whatever the condition number is, where a descent in the parameters of
log_cholesky.py may creep along the border of what is possible. That happens to mechanisms with
loops, of whose many links most are told in combination only.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.identification import log_cholesky
from dynamics_node.identification.parameters import NOT_NEGATIVE

ENOUGH = 1e-4        # of the sum of squares, in units of noise, that may be left to win
SMALLER = 0.1        # mu by mu before
CENTRED = 0.1        # Newton's decrement, in units of sqrt(mu), from which on mu is made smaller
STEPS = 1000
TO_THE_BORDER = 0.95  # share of the way to it that a step may take
LONGEST, BISECTIONS = 10.0, 40   # of a step's length
SMALL = 1e-3         # of the prior's standard deviation: where a p_j of zero begins
THINNEST = 2.0 * log_cholesky.RADIUS[0]   # [m] of a link as heavy as that of the prior
UPPER = np.triu_indices(4)
TWICE = np.where(UPPER[0] == UPPER[1], 1.0, np.sqrt(2.0))   # each entry off the diagonal twice
UNITS = np.stack([log_cholesky.pseudo_inertia(unit) for unit in np.eye(10)])   # (10, 4, 4)


class InteriorFit(NamedTuple):
    """The best possible parameters, and how they were found."""

    values: np.ndarray    # (size,)
    converged: bool
    steps: int


def interior_fit(layout, R, z, start, spread, tick=lambda: None):
    """Return the InteriorFit of min |R pi - z|.

    :param start: (size,) every body possible; what Layout.known names stays as it is there.
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
    for steps in range(1, STEPS + 1):
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
            if mu * terms <= ENOUGH:
                return InteriorFit(x, True, steps)
            mu *= SMALLER
    return InteriorFit(x, False, STEPS)


def _barrier(layout, x, positive):
    """Return (B, e): to second order the barrier changes by |B d|^2 / 2 - e'B d."""
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
    """Return the l with barrier -sum log(1 + t l) after t steps: eigenvalues of U^-1 dP U^-T, dp/p.

    :param change: B times the step.
    """
    bodies = change[:10 * len(layout.bodies)].reshape(-1, 10) / TWICE
    matrices = np.zeros((len(bodies), 4, 4))
    matrices[:, UPPER[0], UPPER[1]] = matrices[:, UPPER[1], UPPER[0]] = bodies
    return np.concatenate([np.linalg.eigvalsh(matrices).ravel(), change[10 * len(bodies):]])


def _length(residual, change, mu, rates):
    """Return the t that is best along the step: by bisection of the derivative, which rises."""
    border = TO_THE_BORDER / max(1e-300, -rates.min(initial=0.0))
    low, high = 0.0, min(border, LONGEST)

    def slope(t):
        return change @ residual + t * (change @ change) - mu * np.sum(rates / (1.0 + t * rates))
    if slope(high) <= 0.0:
        return high
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return low
