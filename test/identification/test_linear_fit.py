"""Test least squares over chunks: exactness, stated errors, outliers, physical consistency."""

import numpy as np
import pytest
from scipy import signal
from support.heavier_arm import other_values, recorded
from support.tolerances import SOLVED

from dynamics_node.identification import sequential_qr
from dynamics_node.identification.consistent_fit import consistent_fit, parameter_prior
from dynamics_node.identification.identifiable_parameters import base_parameters
from dynamics_node.identification.linear_fit import (
    linear_fit,
    solve_least_squares,
    weighted_problem,
)
from dynamics_node.identification.noise import correlation_time
from dynamics_node.identification.parameters import parameter_regressor, parameter_values
from dynamics_node.identification.pseudo_inertia import is_consistent
from dynamics_node.identification.sequential_qr import (
    chunk_factors,
    empty_factors,
    merge_factors,
    triangular_factors,
)
from dynamics_node.identification.uncertainty import base_covariance

# Of N(0, 1) numbers the RMS of 69 base parameters x 6 recordings; they are not independent of each
# other, so that the band is that of some 50 independent ones, three standard deviations wide.
HONEST = (0.7, 1.3)
NOISE = 0.3   # [N m]


@pytest.fixture
def base(fast_arm, layout):
    return base_parameters(fast_arm, layout)


@pytest.fixture
def truth(fast_arm, layout):
    return other_values(fast_arm, layout, seed=1)


@pytest.fixture
def start(fast_arm, layout, base):
    return base.values(parameter_values(fast_arm, layout))


# Accumulation -------------------------------------------------------------------------------------


def test_the_factor_of_chunks_is_that_of_all_samples(fast_arm, layout, base, truth, monkeypatch):
    """R'R = [Y_b tau]'[Y_b tau] of the whole regressor, whatever the chunks."""
    recording = recorded(fast_arm, layout, truth, 700, seed=2, noise=NOISE)
    Y = parameter_regressor(fast_arm, layout, recording.q, recording.v, recording.a)[..., base.kept]
    for chunk in (100, 333, 2000):
        monkeypatch.setattr(sequential_qr, 'CHUNK', chunk)
        factors = triangular_factors(fast_arm, base, recording)
        assert factors.samples == 700
        for k, depends in enumerate(base.depends):
            whole = np.column_stack([Y[:, k, depends], recording.tau[:, k]])
            size = np.linalg.norm(whole, axis=0)
            np.testing.assert_allclose(factors.R[k].T @ factors.R[k] / np.outer(size, size),
                                       whole.T @ whole / np.outer(size, size), atol=SOLVED)


def test_factors_merge_in_any_order_and_grouping(fast_arm, layout, base, truth):
    """Up to signs of rows: R'R is the same. No samples change nothing."""
    parts = [triangular_factors(fast_arm, base, recorded(fast_arm, layout, truth, 150, seed))
             for seed in range(3)]
    a, b, c = parts
    left = merge_factors(merge_factors(a, b), c)
    right = merge_factors(merge_factors(empty_factors(base), c), merge_factors(b, a))
    assert left.samples == right.samples == 450
    for R, S in zip(left.R, right.R):
        scale = np.linalg.norm(R, axis=0)
        np.testing.assert_allclose((R / scale).T @ (R / scale), (S / scale).T @ (S / scale),
                                   atol=SOLVED)


def test_decimated_chunks_are_those_of_the_whole(fast_arm, layout, base, truth, monkeypatch):
    """Filters extend over the edges of chunks: no row is lost there."""
    recording = recorded(fast_arm, layout, truth, 1500, seed=2, noise=NOISE)
    factors = []
    for chunk in (200, 10_000):
        monkeypatch.setattr(sequential_qr, 'CHUNK', chunk)
        factors.append(triangular_factors(fast_arm, base, recording, factor=7))
    assert factors[0].samples == factors[1].samples == 1500 // 7 - 5
    for R, S in zip(factors[0].R, factors[1].R):
        scale = np.linalg.norm(R, axis=0)
        np.testing.assert_allclose((R / scale).T @ (R / scale), (S / scale).T @ (S / scale),
                                   atol=SOLVED)


# Estimates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize('method', ['ordinary', 'weighted', 'robust'])
@pytest.mark.parametrize('factor', [1, 4])
def test_without_noise_base_parameters_are_exact(fast_arm, layout, base, truth, start, method,
                                                 factor):
    recording = recorded(fast_arm, layout, truth, 1500, seed=3)
    found = linear_fit(fast_arm, base, recording, start, method, factor=factor)
    np.testing.assert_allclose(found.values, base.values(truth), atol=SOLVED)


def _coloured(white):
    """Return noise filtered as a drive filters its torque: second order, a tenth of the rate."""
    return signal.lfilter(*signal.butter(2, 0.1), white, axis=0)


def _uneven(white):
    return white * np.array([3.0, 3.0, 1.0, 1.0, 0.3, 0.1, 0.1])


@pytest.mark.parametrize('method, colour, factor', [
    ('ordinary', _uneven, 1), ('weighted', None, 1), ('weighted', _coloured, 1),
    ('weighted', _uneven, 1), ('weighted', _coloured, 5), ('robust', None, 1)])
def test_stated_standard_deviations_are_true(fast_arm, layout, base, truth, start, method, colour,
                                             factor):
    """Errors in units of them have RMS 1, and 95 % are below three, also if noise is coloured."""
    scores = []
    for seed in range(6):
        recording = recorded(fast_arm, layout, truth, 2000, seed, NOISE, colour)
        found = linear_fit(fast_arm, base, recording, start, method, factor=factor)
        sigma = np.sqrt(np.diag(base_covariance(found)))
        scores.append((found.values - base.values(truth)) / sigma)
    scores = np.array(scores)
    assert HONEST[0] < np.sqrt(np.mean(scores ** 2)) < HONEST[1]
    assert np.mean(np.abs(scores) < 3.0) >= 0.95


def test_weights_reduce_errors_under_uneven_noise(fast_arm, layout, base, truth, start):
    """No variance grows (Gauss and Markov); those of the quiet wrist's inertia shrink fivefold."""
    recording = recorded(fast_arm, layout, truth, 2000, 5, NOISE, _uneven)
    spread = {method: np.diag(base_covariance(linear_fit(fast_arm, base, recording, start, method)))
              for method in ('ordinary', 'weighted')}
    assert (spread['weighted'] < 1.1 * spread['ordinary']).all()   # both by estimated noise
    wrist = base.depends[6] & (base.kept < layout.inertial)
    assert (spread['weighted'][wrist] < 0.2 * spread['ordinary'][wrist]).all()


@pytest.mark.parametrize('loss', ['huber', 'bisquare'])
def test_a_robust_fit_ignores_outliers(fast_arm, layout, base, truth, start, loss):
    """2 % of the torques are off by 50 N m: five times less error than least squares makes."""
    recording = recorded(fast_arm, layout, truth, 2000, 6, NOISE)
    rng = np.random.default_rng(0)
    spikes = np.where(rng.random(recording.tau.shape) < 0.02, 50.0, 0.0)
    spoilt = recording._replace(tau=recording.tau + spikes)
    found = {method: linear_fit(fast_arm, base, spoilt, start, method, loss)
             for method in ('weighted', 'robust')}
    sigma = np.sqrt(np.diag(base_covariance(found['robust'])))
    error = {method: np.sqrt(np.mean(((result.values - base.values(truth)) / sigma) ** 2))
             for method, result in found.items()}
    assert error['robust'] < 0.2 * error['weighted']


def test_undetermined_parameters_keep_their_prior(fast_arm, layout, base, truth, start):
    """The friction and inertia of a wrist at rest; their deviation is infinite."""
    recording = recorded(fast_arm, layout, truth, 1000, 7)
    q, v, a = (part.copy() for part in (recording.q, recording.v, recording.a))
    q[:, 6], v[:, 6], a[:, 6] = 0.4, 0.0, 0.0
    still = recording._replace(q=q, v=v, a=a)
    found = linear_fit(fast_arm, base, still, start)
    friction = base.names.index('joint_7.viscous')
    assert found.values[friction] == start[friction]
    assert base_covariance(found)[friction, friction] == np.inf
    other = base.names.index('joint_1.viscous')
    assert np.isfinite(base_covariance(found)[other, other])


def test_the_correlation_time_is_that_of_the_process():
    """(1 + c)/(1 - c) of x' = c x + noise; 1 of white noise."""
    rng = np.random.default_rng(1)
    white = rng.normal(size=200_000)
    assert correlation_time(white) == pytest.approx(1.0, abs=0.05)
    slow = signal.lfilter([1.0], [1.0, -0.9], white)
    assert correlation_time(slow) == pytest.approx(19.0, rel=0.1)
    assert correlation_time(np.zeros(100)) == 1.0


# Possible robots ----------------------------------------------------------------------------------


def _consistent(layout, values):
    bodies = all(is_consistent(values[layout.of_body(i)]) for i in range(len(layout.bodies)))
    return bodies and all((values[layout.each(kind)] >= 0.0).all()
                          for kind in ('armature', 'viscous', 'coulomb'))


def test_absurd_torques_give_a_physical_robot(fast_arm, layout, base, start):
    """Noise, the wrong sign, a thousandfold, zero."""
    recording = recorded(fast_arm, layout, parameter_values(fast_arm, layout), 600, 9)
    rng = np.random.default_rng(2)
    prior = parameter_prior(layout, parameter_values(fast_arm, layout), recording, 1.0)
    for tau in (100.0 * rng.normal(size=recording.tau.shape), -recording.tau,
                1000.0 * recording.tau, 0.0 * recording.tau + 1e-3):
        factors = triangular_factors(fast_arm, base, recording._replace(tau=tau))
        found = consistent_fit(base, weighted_problem(base, factors, np.full(7, NOISE)), prior)
        assert _consistent(layout, found.values)


def test_a_strong_prior_keeps_the_urdf_and_a_weak_one_lets_go(fast_arm, layout, base, truth, start):
    recording = recorded(fast_arm, layout, truth, 600, 9, NOISE)
    factors = triangular_factors(fast_arm, base, recording)
    problem = weighted_problem(base, factors, np.full(7, NOISE))
    known = parameter_values(fast_arm, layout)
    errors = []
    for weight in (1e12, 1.0):
        prior = parameter_prior(layout, known, recording, weight)
        values = consistent_fit(base, problem, prior).values
        errors.append((np.abs(values - known).max(),
                       np.linalg.norm(problem.R @ base.values(values - truth))))
    assert errors[0][0] < 1e-3
    assert errors[1][1] < 15.0   # sqrt(69) standard deviations are what noise makes


def test_rows_of_one_chunk_and_solving_are_plain_least_squares(fast_arm, layout, base, truth):
    """Against numpy's lstsq on the stacked regressor."""
    recording = recorded(fast_arm, layout, truth, 300, 3, NOISE)
    rows = next(sequential_qr.row_chunks(fast_arm, base, recording))
    problem = weighted_problem(base, chunk_factors(rows), np.ones(7))
    found = solve_least_squares(problem, np.zeros(base.size))
    Y = parameter_regressor(fast_arm, layout, recording.q, recording.v, recording.a)[..., base.kept]
    best, *_ = np.linalg.lstsq(Y.reshape(-1, base.size), recording.tau.ravel(), rcond=None)
    np.testing.assert_allclose(found, best, atol=1e-9)
