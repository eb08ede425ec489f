"""Compute standard deviations of parameters, and which of them the data determine.

Base parameters: from the data alone, cov x = H^-1 (Q'Q) H^-1 with H = R'R and the effective noise
of torques (see noise.py). All parameters: from data and prior; directions that the data do not
determine keep the standard deviation of the prior.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.identification.consistent_fit import MAX_SHARE, ConsistentFit, Prior
from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.linear_fit import RANK_TOLERANCE, LinearFit, equilibrated


class Spread(NamedTuple):
    """Standard deviations of parameters."""

    sigma: np.ndarray       # (n,) in the units of the parameters; inf if not determined
    relative: np.ndarray    # (n,) sigma / |value|
    prior: np.ndarray       # (n,) standard deviation of the prior

    @property
    def determined(self) -> np.ndarray:
        """(n,) whether the data at least halve the standard deviation of the prior."""
        return self.sigma <= MAX_SHARE * self.prior


def base_covariance(fit: LinearFit) -> np.ndarray:
    """Return the covariance of the base parameters, (b, b); inf where not determined."""
    R, scale = equilibrated(fit.problem.R)
    _, s, Vt = np.linalg.svd(R)
    rank = s > RANK_TOLERANCE * s[0]
    V = Vt[rank].T
    half = (V / s[rank] ** 2) @ (V.T @ (fit.spread / scale).T)
    covariance = half @ half.T
    free = (np.abs(Vt[~rank]) > np.sqrt(RANK_TOLERANCE)).any(axis=0)
    covariance[free, free] = np.inf
    return covariance / np.outer(scale, scale)


def base_spread(base: BaseParameters, fit: LinearFit, prior: Prior) -> tuple[np.ndarray, Spread]:
    """Return (covariance, Spread) of the base parameters, from the data alone."""
    covariance = base_covariance(fit)
    before = np.linalg.norm(np.linalg.solve(prior.A.T, base.grouping.T), axis=0)
    return covariance, _spread(np.sqrt(np.diag(covariance)), fit.values, before)


def full_spread(consistent: ConsistentFit, prior: Prior, factors: np.ndarray) -> Spread:
    """Return the Spread of all parameters, from data and prior.

    :param factors: (size,) factors of the standard deviations, see speed_uncertainty.py; the
        result does not exceed the standard deviation of the prior.
    """
    before = standard_deviations(prior.A)
    found = standard_deviations(consistent.A)
    return _spread(np.maximum(found, np.minimum(factors * found, before)), consistent.values,
                   before)


def standard_deviations(R: np.ndarray) -> np.ndarray:
    """Return the standard deviations of x with the information R'R, (n,)."""
    return np.linalg.norm(np.linalg.inv(R), axis=1)


def _spread(sigma: np.ndarray, values: np.ndarray, before: np.ndarray) -> Spread:
    with np.errstate(divide='ignore'):
        return Spread(sigma, sigma / np.abs(values), before)
