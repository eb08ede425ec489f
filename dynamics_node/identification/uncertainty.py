"""How sure are the parameters, and which of them do the data not tell?

Of base parameters: what the data say alone, cov x = H^-1 (Q'Q) H^-1 with H = R'R, torques counted
with their effective noise (see noise.py). Of all parameters: what data and prior say together, so
that those that no torque can tell have the spread of the prior, and are named.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.identification.linear_fit import RANK_TOLERANCE, equilibrated

BARELY = 0.5   # a standard deviation above this share of the prior's: the data tell little


class Spread(NamedTuple):
    """Standard deviations of some parameters."""

    sigma: np.ndarray       # (n,) in the parameters' units; inf where nothing is told
    relative: np.ndarray    # (n,) sigma / |value|
    prior: np.ndarray       # (n,) standard deviation before anything was measured

    @property
    def determined(self):
        """Whether the data tell a parameter: they at least halve what was unsure before."""
        return self.sigma <= BARELY * self.prior


def base_covariance(fit):
    """Return the covariance of the base parameters of a LinearFit, (b, b), inf where untold."""
    R, scale = equilibrated(fit.problem.R)
    _, s, Vt = np.linalg.svd(R)
    told = s > RANK_TOLERANCE * s[0]
    V = Vt[told].T
    half = (V / s[told] ** 2) @ (V.T @ (fit.spread / scale).T)
    covariance = half @ half.T
    lost = (np.abs(Vt[~told]) > np.sqrt(RANK_TOLERANCE)).any(axis=0)
    covariance[lost, lost] = np.inf
    return covariance / np.outer(scale, scale)


def base_spread(base, fit, prior):
    """Return (covariance, Spread) of the base parameters, from the data alone."""
    covariance = base_covariance(fit)
    before = np.linalg.norm(np.linalg.solve(prior.A.T, base.grouping.T), axis=0)
    return covariance, _spread(np.sqrt(np.diag(covariance)), fit.values, before)


def full_spread(consistent, prior):
    """Return the Spread of all parameters, from data and prior."""
    def sigma(R):
        return np.linalg.norm(np.linalg.inv(R), axis=1)
    return _spread(sigma(consistent.R), consistent.values, sigma(prior.A))


def _spread(sigma, values, before):
    with np.errstate(divide='ignore'):
        return Spread(sigma, sigma / np.abs(values), before)
