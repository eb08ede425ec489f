"""Test the interior-point fit against the fit by descent."""

import numpy as np
import pytest
from support.heavier_arm import other_values, recorded

from dynamics_node.identification.consistent_fit import consistent_fit, parameter_prior
from dynamics_node.identification.identifiable_parameters import base_parameters
from dynamics_node.identification.interior_fit import interior_fit
from dynamics_node.identification.linear_fit import weighted_problem
from dynamics_node.identification.log_cholesky import is_consistent, ten_of
from dynamics_node.identification.parameters import NOT_NEGATIVE, parameter_values
from dynamics_node.identification.sequential_qr import triangular_factors

NOISE = 0.5   # [N m]


class Stopped(Exception):
    pass


def problem_of(fast_arm, layout, weight, noise=NOISE):
    """Return (R, z, Prior, ConsistentFit by descent) of a noisy recording."""
    base = base_parameters(fast_arm, layout)
    recording = recorded(fast_arm, layout, other_values(fast_arm, layout, 1), 700, 8, noise)
    problem = weighted_problem(base, triangular_factors(fast_arm, base, recording),
                               np.full(7, noise))
    prior = parameter_prior(layout, parameter_values(fast_arm, layout), recording, weight)
    rows = np.vstack([np.column_stack([problem.R @ base.grouping, problem.z]),
                      np.column_stack([prior.A, prior.A @ prior.values])])
    factor = np.linalg.qr(rows, mode='r')[:layout.size]
    return factor[:, :-1], factor[:, -1], prior, consistent_fit(base, problem, prior)


def fitted(layout, R, z, prior, **options):
    spread = np.linalg.norm(np.linalg.inv(prior.A), axis=1)
    return interior_fit(layout, R, z, prior.values, spread, **options)


@pytest.mark.parametrize('weight', [1e-2, 1.0, 100.0])
def test_the_fit_is_optimal_among_physical_robots(fast_arm, layout, weight):
    """The sum of squares is that of descent; no physical robot has a lower one."""
    R, z, prior, descent = problem_of(fast_arm, layout, weight)
    found = fitted(layout, R, z, prior)
    assert found.converged
    assert np.sum((R @ found.values - z) ** 2) <= np.sum((R @ descent.values - z) ** 2) + 1e-2
    assert all(is_consistent(found.values[layout.of_body(i)]) for i in range(7))
    assert all((found.values[layout.each(kind)] >= 0.0).all() for kind in NOT_NEGATIVE)
    gradient = R.T @ (R @ found.values - z)
    rng, others = np.random.default_rng(1), [prior.values, descent.values]
    for i in range(len(layout.bodies)):
        for _ in range(20):
            other = found.values.copy()
            point = np.append(0.2 * rng.normal(size=3), 1.0)
            other[layout.of_body(i)] += ten_of(np.outer(point, point))
            others.append(other)
    assert min(gradient @ (other - found.values) for other in others) > -0.05


def test_exact_data_are_fitted_exactly(fast_arm, layout):
    """Weights of 1e9: R'R would have lost all digits."""
    R, z, prior, descent = problem_of(fast_arm, layout, 1.0, 1e-8)
    found = fitted(layout, R, z, prior)
    assert found.converged
    assert np.abs(found.values - descent.values)[layout.inertial:].max() < 1e-6


def test_known_parameters_stay_and_the_fit_may_be_stopped(fast_arm, layout):
    R, z, prior, _ = problem_of(fast_arm, layout, 1.0)
    passive = layout._replace(passive=(True, *layout.passive[1:]))
    found = fitted(passive, R, z, prior)
    assert np.array_equal(found.values[passive.known], prior.values[passive.known])

    def stop():
        raise Stopped
    with pytest.raises(Stopped):
        fitted(layout, R, z, prior, tick=stop)
