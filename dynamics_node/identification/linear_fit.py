"""Which base parameters explain the torques best: in least squares, weighted, or robust?

Ordinary: every torque counts alike. Weighted: each joint's by its noise, which the ordinary fit
leaves as residuals. Robust: besides, each sample by how far it is off, again and again (iteratively
reweighted least squares), so that spikes and collisions do not count.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError, shown
from dynamics_node.identification.loop_equations import row_rms
from dynamics_node.identification.noise import Noise, median_sigma, residual_noise
from dynamics_node.identification.sequential_qr import misfit, residuals, triangular_factors

METHODS = ('ordinary', 'weighted', 'robust')
LOSSES = ('huber', 'bisquare')
TUNING = {'huber': 1.345, 'bisquare': 4.685}  # 95 % as good as least squares if nothing is off
ROUNDS = 20                # of reweighting at most
SETTLED = 1e-2             # of a standard deviation: parameters that move less have settled
RANK_TOLERANCE = 1e-10             # singular values this small against the largest tell nothing
ROUNDING = 1e-9            # of a joint's torque: the least noise that is assumed


class TriangularProblem(NamedTuple):
    """min |R x - z|: all samples, each joint's torque in units of its effective noise."""

    R: np.ndarray    # (b, b)
    z: np.ndarray    # (b,)


class LinearFit(NamedTuple):
    """Base parameters, free of any constraint."""

    values: np.ndarray        # (b,)
    problem: TriangularProblem
    spread: np.ndarray        # (b, b) Q with Q'Q = covariance of R'z; R where weights fit
    noise: Noise
    rounds: int               # of reweighting


def linear_fit(robot, base, recording, start, method='weighted', loss='huber', factor=1,
        progress=None):
    """Return the LinearFit of a recording.

    :param start: base parameters that stay where the data tell nothing, (b,).
    :param factor: of decimation, see decimation.py.
    :param progress: f(share, text); may raise to stop.
    """
    _check(method, loss)
    say = progress or (lambda share, text: None)
    factors = triangular_factors(robot, base, recording, factor,
                         tick=lambda s: say(0.5 * s, 'reading the recording'))
    floor = ROUNDING * row_rms(recording.tau[:, base.rows])
    x = solve_least_squares(weighted_problem(base, factors, np.ones(len(base.felt))), start)
    rounds = 0
    if method == 'robust':
        x, factors, rounds = _reweighted(robot, base, recording, x, floor, start, loss, factor,
                                          say)
    (left,) = residuals(robot, base, recording, x, factor=factor,
                        tick=lambda s: say(0.7 + 0.3 * s, 'what is left of the torques'))
    noise = residual_noise(left, base.felt.sum(axis=1), floor, robust=method == 'robust')
    counted = noise.effective
    if method == 'ordinary':
        counted = np.full_like(counted, np.sqrt(np.mean(counted ** 2)))
    problem = weighted_problem(base, factors, counted)
    spread = weighted_problem(base, factors, counted ** 2 / noise.effective).R
    return LinearFit(solve_least_squares(problem, start), problem, spread, noise, rounds)


def _check(method, loss):
    for name, value, choices in (('method', method, METHODS), ('loss', loss, LOSSES)):
        if not isinstance(value, str) or value not in choices:
            raise DynamicsError(f'{name} is {shown(value)}; expected one of {", ".join(choices)}')


def _reweighted(robot, base, recording, x, floor, start, loss, factor, say):
    """Return (values, factors, rounds) of the robust fit.

    The scale is that of the median residual of the ordinary fit, then of the first robust one; it
    hardly changes after that, and is kept.
    """
    for rounds in range(1, ROUNDS + 1):
        def tick(share, done=rounds - 1):
            say(0.5 + 0.2 * (done + share) / ROUNDS, f'reweighting, round {done + 1}')

        if rounds <= 2:
            (left,) = residuals(robot, base, recording, x, factor=factor, tick=lambda _: tick(0.0))
            sigma = np.maximum(median_sigma(left), floor)
        bounds = TUNING[loss] * sigma

        def weigh(k, A, x=x, bounds=bounds):
            return WEIGHTS[loss](misfit(A, x[base.felt[k]]) / bounds[k])

        factors = triangular_factors(robot, base, recording, factor, weigh, tick)
        problem = weighted_problem(base, factors, sigma)
        moved, x = x, solve_least_squares(problem, start)
        if np.linalg.norm(problem.R @ (x - moved)) < SETTLED:
            break
    return x, factors, rounds


def huber(u):
    """Return the weight of a residual u in units of the bound: 1 inside, bound/|u| outside."""
    return 1.0 / np.maximum(np.abs(u), 1.0)


def bisquare(u):
    """Return Tukey's weight: (1 - u^2)^2 inside the bound, nothing outside."""
    return np.clip(1.0 - u * u, 0.0, None) ** 2


WEIGHTS = {'huber': huber, 'bisquare': bisquare}


def weighted_problem(base, factors, sigma):
    """Return the TriangularProblem: the factor of each row divided by its sigma, all stacked."""
    stacked = np.zeros((sum(map(len, factors.R)) + base.size, base.size + 1))
    row = 0
    for felt, R, s in zip(base.felt, factors.R, sigma):
        stacked[row:row + len(R), np.append(felt, True)] = R / s
        row += len(R)
    R = np.linalg.qr(stacked, mode='r')
    return TriangularProblem(R[:base.size, :base.size], R[:base.size, base.size])


def solve_least_squares(problem, start):
    """Return the x that minimises |R x - z|; what R does not tell stays as in `start`."""
    R, scale = equilibrated(problem.R)
    step, *_ = np.linalg.lstsq(R, problem.z - problem.R @ start, rcond=RANK_TOLERANCE)
    return start + step / scale


def equilibrated(R):
    """Return (R with columns of norm 1, their norms): units of parameters then do not matter."""
    scale = np.linalg.norm(R, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    return R / scale, scale


def condition_number(R):
    """Return the condition number of R, its columns scaled to norm 1; inf if it has no rank."""
    singular = np.linalg.svd(equilibrated(R)[0], compute_uv=False)
    return float(singular[0] / singular[-1]) if singular[-1] > 0.0 else float('inf')
