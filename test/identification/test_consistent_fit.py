"""Test the consistent fit as a whole: its optimum, and what it leaves as in the URDF."""

import numpy as np
import pytest
from support.clarabel_oracle import nearest_by_clarabel
from support.heavier_arm import motion, other_values, recorded
from support.upper_body import TORSO, UPPER_BODY

from dynamics_node import Robot
from dynamics_node.identification.consistent_fit import (
    DETERMINED,
    LEAST_BODY,
    consistent_fit,
    fitted_parameters,
    parameter_prior,
)
from dynamics_node.identification.identifiable_parameters import base_parameters
from dynamics_node.identification.interior_fit import ConsistentSet
from dynamics_node.identification.linear_fit import linear_fit, weighted_problem
from dynamics_node.identification.parameters import (
    parameter_layout,
    parameter_values,
    robot_with_parameters,
)
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.robot_fit import identify
from dynamics_node.identification.sequential_qr import triangular_factors

NOISE = 3.0     # [N m] of the arm: large, so that the best links are not consistent
AGREES = 1e-6   # share of the sum of squares, of two interior-point methods


def least_squares_by_clarabel(base, problem, prior):
    """Return (f, f of the optimum): f(values) over the directions that the data determine."""
    layout, back = base.layout, np.linalg.inv(prior.A)
    data = problem.R @ base.grouping @ back
    free = fitted_parameters(layout, data)
    U, s, Vt = np.linalg.svd(data[:, free])
    kept = np.flatnonzero(s > DETERMINED)
    size = len(free)
    rows = np.vstack([s[kept, None] * Vt[kept], np.eye(size)])   # of y = A (values - prior)
    z = np.concatenate([U[:, kept].T @ (problem.z - problem.R @ base.values(prior.values)),
                        np.zeros(size)])
    Q, R = np.linalg.qr(rows)
    by = np.zeros((layout.size, size))
    by[free] = back[np.ix_(free, free)] @ np.linalg.inv(R)       # of w = R y
    positive = layout.not_negative
    within = ConsistentSet((1.0 - LEAST_BODY) * prior.values[:layout.inertial].reshape(-1, 10),
                           by[:layout.inertial].reshape(-1, 10, size),
                           prior.values[positive], by[positive])
    least = nearest_by_clarabel(within, Q.T @ z)[1] + z @ z - np.sum((Q.T @ z) ** 2)
    return lambda values: np.sum((rows @ (prior.A @ (values - prior.values))[free] - z) ** 2), least


@pytest.mark.parametrize('weight', [1e-2, 1.0, 100.0])
def test_the_optimum_is_that_of_clarabel(fast_arm, layout, weight):
    """With noise so large that the best links are not consistent."""
    base = base_parameters(fast_arm, layout)
    known = parameter_values(fast_arm, layout)
    recording = recorded(fast_arm, layout, other_values(fast_arm, layout, 1), 1000, 8, NOISE)
    problem = linear_fit(fast_arm, base, recording, base.values(known)).problem
    prior = parameter_prior(layout, known, recording, weight)
    found = consistent_fit(base, problem, prior)
    squares, least = least_squares_by_clarabel(base, problem, prior)
    assert found.optimality.squares == pytest.approx(squares(found.values), rel=1e-9)
    assert found.optimality.squares == pytest.approx(least, rel=AGREES)
    assert 0.0 < found.optimality.gap < 1e-8 * (1.0 + found.optimality.squares)


def test_exact_data_are_fitted_exactly(fast_arm, layout):
    """Weights of 1e9: normal equations of the data would have lost all digits."""
    base = base_parameters(fast_arm, layout)
    truth = other_values(fast_arm, layout, 1)
    recording = recorded(fast_arm, layout, truth, 700, 8)
    problem = weighted_problem(base, triangular_factors(fast_arm, base, recording),
                               np.full(7, 1e-8))
    prior = parameter_prior(layout, parameter_values(fast_arm, layout), recording, 1.0)
    found = consistent_fit(base, problem, prior)
    np.testing.assert_allclose(base.values(found.values), base.values(truth), atol=1e-6)


def test_known_parameters_stay(fast_arm, layout):
    passive = layout._replace(passive=(True, *layout.passive[1:]))
    base = base_parameters(fast_arm, passive)
    recording = recorded(fast_arm, layout, other_values(fast_arm, layout, 1), 700, 8, NOISE)
    problem = weighted_problem(base, triangular_factors(fast_arm, base, recording), np.ones(7))
    prior = parameter_prior(passive, parameter_values(fast_arm, passive), recording, 1.0)
    found = consistent_fit(base, problem, prior)
    assert np.array_equal(found.values[passive.known], prior.values[passive.known])


# What the data do not determine -----------------------------------------------------------------

@pytest.fixture(scope='module')
def upper_body(kernels):
    return Robot.from_urdf(UPPER_BODY)


def upper_body_recording(robot, waist, noise):
    """Return a Recording of a robot with another arm and hand.

    :param waist: share of the motion that the waist makes.
    """
    layout = parameter_layout(robot)
    truth = parameter_values(robot, layout)
    truth[layout.of_body(1)] *= 1.5
    truth[layout.of_body(2)] *= 0.7
    truth[layout.each('viscous')] = 0.4
    t, *moves = motion(robot.nv, 800, 3)
    q, v, a = (move * [waist, 1.0, 1.0] for move in moves)
    tau = robot_with_parameters(robot, layout, truth).inverse_dynamics(q, v, a)
    tau += noise * np.random.default_rng(4).normal(size=tau.shape)
    return Recording(robot.joint_names, t, q, v, a, tau)


@pytest.mark.parametrize('waist, noise', [(1e-4, 0.1), (0.01, 1.0), (0.1, 5.0)])
def test_a_link_that_the_data_do_not_determine_is_as_in_the_urdf(upper_body, waist, noise):
    """A torso that hardly turns, to the last bit; also with noise as large as torques."""
    found = identify(upper_body, upper_body_recording(upper_body, waist, noise))
    torso = found.layout.of_body(0)
    assert not found.spread.determined[torso].any()
    np.testing.assert_array_equal(found.values[torso], found.before[torso])
    assert found.values[0] == TORSO
    arm = found.layout.of_body(1)
    assert not np.array_equal(found.values[arm], found.before[arm])


def test_a_torso_that_turns_keeps_its_mass(upper_body):
    """Torques depend on one of its parameters, Izz; the others stay near the URDF."""
    found = identify(upper_body, upper_body_recording(upper_body, 1.0, 0.1))
    assert found.values[0] == pytest.approx(TORSO, rel=0.02)
