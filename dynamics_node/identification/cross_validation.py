"""Find by cross-validation how much greater the errors of a model are than its residuals.

A fit to a short recording leaves small residuals, since its parameters also fit what the model does
not have: friction that depends on load or temperature, play, ripple. On other motions the same
parameters are wrong. So each part of the recording is predicted by a fit to the other parts, with
the noise of torques multiplied by each of FACTORS: the greater it is, the nearer the parameters
stay to the prior. The factor that predicts best is the right noise.

A factor above 1 says that residuals do not show the errors. Then the held-out end of the recording,
which is one short motion, does not show them either, and the parts are compared with the prior one
by one: t = mean / (deviation / sqrt(parts)) of how much the mean square error falls.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.identification.consistent_fit import Prior
from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.linear_fit import LinearFit, weighted_problem
from dynamics_node.identification.sequential_qr import TriangularFactors, merged_factors

FACTORS = np.sqrt(10.0) ** np.arange(7)   # 1 to 1000
WORTH = 0.95     # of the error with factor 1: with less, a greater factor is used
SAME = 1.05      # times the least error: of such factors the greatest is used
SIGNIFICANT = 2.13   # t that chance exceeds in 5 % of all cases: five parts


class CrossValidation(NamedTuple):
    """Torque errors on parts of the recording, each predicted by a fit to the other parts."""

    factor: float         # on the noise of torques, at least 1
    error: np.ndarray     # (rows,) RMS with this factor [N m or N]
    significance: float = np.inf   # t of the fall of the mean square error, against the prior

    @property
    def reliable(self) -> bool:
        """Whether residuals show the errors, or fits predict other parts better than the prior."""
        return self.factor == 1.0 or self.significance > SIGNIFICANT


def cross_validate(base: BaseParameters, fit: LinearFit, prior: Prior) -> CrossValidation:
    """Return the CrossValidation of a fit; consistency of the links is not demanded."""
    squares = np.array([_errors(base, fit, prior, k) for k in range(len(fit.parts))])
    error = np.sqrt(squares.mean(axis=0))
    totals = np.sqrt(np.mean(error ** 2, axis=1))
    best = 0
    if totals.min() < WORTH * totals[0]:
        best = int(np.flatnonzero(totals <= SAME * totals.min())[-1])
    before = np.array([_squares(base, part, base.values(prior.values)) for part in fit.parts])
    return CrossValidation(float(FACTORS[best]), error[best],
                           _significance(before.mean(axis=1) - squares[:, best].mean(axis=1)))


def _significance(falls: np.ndarray) -> float:
    """Return t of numbers whose mean is positive by chance or not; +-inf without a deviation."""
    mean, error = falls.mean(), falls.std(ddof=1) / np.sqrt(len(falls))
    if error == 0.0:
        return np.inf if mean > 0.0 else -np.inf
    return float(mean / error)


def _errors(base: BaseParameters, fit: LinearFit, prior: Prior, k: int) -> list[np.ndarray]:
    """Return the mean squares of part k, predicted by the other parts, (factors, rows)."""
    others = merged_factors(base, [*fit.parts[:k], *fit.parts[k + 1:]])
    problem = weighted_problem(base, others, fit.noise.effective)
    data = problem.R @ base.grouping @ np.linalg.inv(prior.A)   # in units of the prior
    misfit = problem.z - problem.R @ base.values(prior.values)
    U, s, Vt = np.linalg.svd(data, full_matrices=False)
    errors = []
    for factor in FACTORS:
        step = Vt.T @ (s / (s ** 2 + factor ** 2) * (U.T @ misfit))
        values = prior.values + np.linalg.solve(prior.A, step)
        errors.append(_squares(base, fit.parts[k], base.values(values)))
    return errors


def _squares(base: BaseParameters, part: TriangularFactors, values: np.ndarray) -> np.ndarray:
    """Return the mean square of the torque error of each row, (rows,)."""
    return np.array([np.sum((R[:, -1] - R[:, :-1] @ values[depends]) ** 2)
                     for depends, R in zip(base.depends, part.R)]) / max(part.samples, 1)
