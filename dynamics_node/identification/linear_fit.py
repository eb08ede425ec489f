"""Fit base parameters to torques by ordinary, weighted or robust least squares.

Ordinary: all torques have the same weight. Weighted: the torque of each joint is weighted by its
noise, estimated from the residuals of the ordinary fit. Robust: in addition, each sample is
weighted by its residual (iteratively reweighted least squares), so that spikes and collisions
have little influence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.loop_equations import row_rms
from dynamics_node.identification.noise import Noise, median_sigma, residual_noise
from dynamics_node.identification.r_factor import r_factor
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.sequential_qr import (
    TriangularFactors,
    merged_factors,
    misfit,
    residuals,
    triangular_parts,
)
from dynamics_node.robot.robot import Robot

METHODS = ('ordinary', 'weighted', 'robust')
LOSSES = ('huber', 'bisquare')
TUNING = {'huber': 1.345, 'bisquare': 4.685}  # 95 % efficiency for normal noise
MAX_ROUNDS = 20            # of reweighting
SETTLED = 1e-2             # of a standard deviation: smaller changes end the reweighting
RANK_TOLERANCE = 1e-10     # singular values below this share of the largest count as zero
ROUNDING = 1e-9            # of a joint's torque: the least noise that is assumed
PARTS = 5                  # of the recording, for cross_validation.py


class TriangularProblem(NamedTuple):
    """min |R x - z| over all samples, each row of torques in units of its effective noise."""

    R: np.ndarray    # (b, b)
    z: np.ndarray    # (b,)


class LinearFit(NamedTuple):
    """Base parameters of an unconstrained fit."""

    values: np.ndarray        # (b,)
    problem: TriangularProblem
    spread: np.ndarray        # (b, b) Q with Q'Q = covariance of R'z; R if weights match the noise
    noise: Noise
    rounds: int               # of reweighting
    parts: tuple[TriangularFactors, ...]   # of the recording, see triangular_parts

    def with_noise(self, factor: float) -> LinearFit:
        """Return the fit with the noise of the data, not of its residuals, times a factor."""
        R, z = self.problem
        return self._replace(problem=TriangularProblem(R / factor, z / factor),
                             spread=self.spread / factor)


def linear_fit(robot: Robot, base: BaseParameters, recording: Recording, start: np.ndarray,
               method: str = 'weighted', loss: str = 'huber', factor: int = 1,
               progress: Callable[[float, str], None] | None = None) -> LinearFit:
    """Return the LinearFit of a recording.

    :param start: (b,) base parameters, kept where the data determine nothing.
    :param method, loss: one of METHODS, one of LOSSES; the caller has checked them.
    :param factor: factor of decimation, see decimation.py.
    :param progress: f(share, text); may raise to stop.
    """
    report = progress or (lambda share, text: None)
    parts = triangular_parts(robot, base, recording, PARTS, factor,
                             tick=lambda s: report(0.5 * s, 'reading the recording'))
    factors = merged_factors(base, parts)
    floor = ROUNDING * row_rms(recording.tau[:, base.rows])
    x = solve_least_squares(weighted_problem(base, factors, np.ones(len(base.depends))), start)
    rounds = 0
    if method == 'robust':
        x, parts, rounds = _reweighted(robot, base, recording, x, floor, start, loss, factor,
                                       report)
        factors = merged_factors(base, parts)
    (left,) = residuals(robot, base, recording, x, factor=factor,
                        tick=lambda s: report(0.7 + 0.3 * s, 'torque residuals'))
    noise = residual_noise(left, base.depends.sum(axis=1), floor, robust=method == 'robust')
    sigma = noise.effective
    if method == 'ordinary':
        sigma = np.full_like(sigma, np.sqrt(np.mean(sigma ** 2)))
    problem = weighted_problem(base, factors, sigma)
    spread = weighted_problem(base, factors, sigma ** 2 / noise.effective).R
    return LinearFit(solve_least_squares(problem, start), problem, spread, noise, rounds, parts)


def _reweighted(robot: Robot, base: BaseParameters, recording: Recording, x: np.ndarray,
                floor: np.ndarray, start: np.ndarray, loss: str, factor: int,
                report: Callable[[float, str], None]
                ) -> tuple[np.ndarray, tuple[TriangularFactors, ...], int]:
    """Return (values, factors of the parts, rounds) of the robust fit.

    The scale is the median residual of the ordinary fit, then of the first robust fit; after that
    it hardly changes and is kept.
    """
    for rounds in range(1, MAX_ROUNDS + 1):
        def tick(share: float, done: int = rounds - 1) -> None:
            report(0.5 + 0.2 * (done + share) / MAX_ROUNDS, f'reweighting, round {done + 1}')

        if rounds <= 2:
            (left,) = residuals(robot, base, recording, x, factor=factor, tick=lambda _: tick(0.0))
            sigma = np.maximum(median_sigma(left), floor)
        bounds = TUNING[loss] * sigma

        def weigh(k: int, A: np.ndarray, x: np.ndarray = x, bounds: np.ndarray = bounds
                  ) -> np.ndarray:
            return WEIGHTS[loss](misfit(A, x[base.depends[k]]) / bounds[k])

        parts = triangular_parts(robot, base, recording, PARTS, factor, weigh, tick)
        problem = weighted_problem(base, merged_factors(base, parts), sigma)
        moved, x = x, solve_least_squares(problem, start)
        if np.linalg.norm(problem.R @ (x - moved)) < SETTLED:
            break
    return x, parts, rounds


def huber(u: np.ndarray) -> np.ndarray:
    """Return the weight of a residual u in units of the bound: 1 inside, bound/|u| outside."""
    return 1.0 / np.maximum(np.abs(u), 1.0)


def bisquare(u: np.ndarray) -> np.ndarray:
    """Return Tukey's weight: (1 - u^2)^2 inside the bound, 0 outside."""
    return np.clip(1.0 - u * u, 0.0, None) ** 2


WEIGHTS = {'huber': huber, 'bisquare': bisquare}


def weighted_problem(base: BaseParameters, factors: TriangularFactors,
                     sigma: np.ndarray) -> TriangularProblem:
    """Return the TriangularProblem: the factor of each row divided by its sigma, all stacked."""
    stacked = np.zeros((sum(map(len, factors.R)) + base.size, base.size + 1))
    row = 0
    for depends, R, s in zip(base.depends, factors.R, sigma):
        stacked[row:row + len(R), np.append(depends, True)] = R / s
        row += len(R)
    R = r_factor(stacked)
    return TriangularProblem(R[:base.size, :base.size], R[:base.size, base.size])


def solve_least_squares(problem: TriangularProblem, start: np.ndarray) -> np.ndarray:
    """Return the x nearest to `start` that minimises |R x - z|, (b,)."""
    R, scale = equilibrated(problem.R)
    step, *_ = np.linalg.lstsq(R, problem.z - problem.R @ start, rcond=RANK_TOLERANCE)
    return start + step / scale


def equilibrated(R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (R with columns of norm 1, their norms): independent of the units of parameters."""
    scale = np.linalg.norm(R, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    return R / scale, scale


def condition_number(R: np.ndarray) -> float:
    """Return the condition number of R, its columns scaled to norm 1; inf if rank deficient."""
    singular = np.linalg.svd(equilibrated(R)[0], compute_uv=False)
    return float(singular[0] / singular[-1]) if singular[-1] > 0.0 else float('inf')
