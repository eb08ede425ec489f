"""Test cross-validation: a short recording must not make the parameters worse than the URDF."""

import numpy as np
import pytest
from support.heavier_arm import other_values, recorded
from support.recorded_arm import THREE_JOINTS

from dynamics_node import Robot
from dynamics_node.identification import robot_fit
from dynamics_node.identification.consistent_fit import parameter_prior
from dynamics_node.identification.cross_validation import (
    SIGNIFICANT,
    CrossValidation,
    _significance,
    cross_validate,
)
from dynamics_node.identification.identifiable_parameters import base_parameters
from dynamics_node.identification.linear_fit import PARTS, linear_fit
from dynamics_node.identification.parameters import (
    parameter_layout,
    parameter_regressor,
    parameter_values,
)
from dynamics_node.identification.robot_fit import identify

RIPPLE = 0.3    # of the RMS of a torque: a torque of the position that the model does not have
SHORT, LONG = 400, 3000     # samples at 100 Hz


@pytest.fixture(scope='module')
def arm(kernels):
    return Robot.from_urdf(THREE_JOINTS)


def rippled(arm, samples, seed):
    """Return a recording of the arm of the URDF, with friction and a ripple of the position."""
    layout = parameter_layout(arm)
    values = other_values(arm, layout, 1, spread=0.0)
    values[:layout.inertial] = parameter_values(arm, layout)[:layout.inertial]
    recording = recorded(arm, layout, values, samples, seed, 0.01)
    size = RIPPLE * np.sqrt(np.mean(recording.tau ** 2, axis=0))
    return recording._replace(tau=recording.tau + size * np.sin(2.0 * recording.q + 1.0))


def error(arm, found, seed):
    """Return (of the identification, of the URDF) the RMS error on a long motion."""
    other = rippled(arm, LONG, seed)
    state = other.q, other.v, other.a
    return tuple(np.sqrt(np.mean((other.tau - tau) ** 2))
                 for tau in (found.predict(*state), arm.inverse_dynamics(*state)))


def test_a_good_recording_needs_no_factor(arm):
    """Masses wrong by 30 %, friction: the data tell all of it."""
    layout = parameter_layout(arm)
    found = identify(arm, recorded(arm, layout, other_values(arm, layout, 1), LONG, 2, 0.1))
    assert found.crossed.factor == 1.0
    assert np.sqrt(np.mean(found.crossed.error ** 2)) < 0.11
    assert not any('other parts' in text for text in found.warnings)


def test_a_short_recording_is_no_worse_than_the_urdf(arm, monkeypatch):
    """Without cross-validation it is, on other motions, for most of eight recordings."""
    recordings = [rippled(arm, SHORT, seed) for seed in range(20, 28)]
    found = [identify(arm, each) for each in recordings]
    used = [error(arm, each, 90) for each in found if each.verdict.success]
    assert all(after <= before for after, before in used), used
    assert any(each.crossed.factor > 1.0 and any('other parts' in text for text in each.warnings)
               for each in found)
    monkeypatch.setattr(robot_fit, 'cross_validate', lambda base, fit, prior:
                        CrossValidation(1.0, np.zeros(arm.nv)))
    plain = [error(arm, identify(arm, each), 90) for each in recordings]
    assert sum(after > before for after, before in plain) >= 3, plain


def test_errors_are_those_of_fits_to_the_other_parts(arm):
    """Against normal equations of all rows, without triangular factors."""
    recording = rippled(arm, SHORT, 3)
    layout, base = parameter_layout(arm), base_parameters(arm, parameter_layout(arm))
    known = parameter_values(arm, layout)
    prior = parameter_prior(layout, known, recording, 1.0)
    fit = linear_fit(arm, base, recording, base.values(prior.values))
    found = cross_validate(base, fit, prior)
    Y = parameter_regressor(arm, layout, recording.q, recording.v, recording.a)
    sigma = found.factor * fit.noise.effective
    squares = np.zeros(arm.nv)
    for part in np.array_split(np.arange(SHORT), PARTS):
        others = np.setdiff1d(np.arange(SHORT), part)
        A = (Y[others] / sigma[:, None]).reshape(-1, layout.size)
        b = (recording.tau[others] / sigma).ravel() - A @ prior.values
        step = np.linalg.solve(A.T @ A + prior.A.T @ prior.A, A.T @ b)
        squares += np.sum((recording.tau[part] - Y[part] @ (prior.values + step)) ** 2, axis=0)
    np.testing.assert_allclose(found.error, np.sqrt(squares / SHORT), rtol=1e-5)


def test_the_significance_compares_parts_with_the_prior(arm):
    """By fits that are made anew; a recording that the URDF explains as well has little of it."""
    layout = parameter_layout(arm)
    base = base_parameters(arm, layout)
    falls = {}
    for name, values in (('other', other_values(arm, layout, 1)),
                         ('same', parameter_values(arm, layout))):
        recording = recorded(arm, layout, values, LONG, 2, 0.1)
        prior = parameter_prior(layout, parameter_values(arm, layout), recording, 1.0)
        fit = linear_fit(arm, base, recording, base.values(prior.values))
        crossed = cross_validate(base, fit, prior)
        Y = parameter_regressor(arm, layout, recording.q, recording.v, recording.a)
        before = np.split(((recording.tau - Y @ prior.values) ** 2).mean(axis=1), PARTS)
        after = []
        for k in range(PARTS):
            rest = np.delete(np.arange(LONG), np.s_[k * LONG // PARTS:(k + 1) * LONG // PARTS])
            weight = np.tile(1.0 / fit.noise.effective, len(rest))[:, None]
            A = np.vstack([weight * Y[rest].reshape(-1, layout.size), prior.A])
            z = np.concatenate([weight[:, 0] * recording.tau[rest].ravel(),
                                prior.A @ prior.values])
            found = np.linalg.lstsq(A, z, rcond=None)[0]
            part = slice(k * LONG // PARTS, (k + 1) * LONG // PARTS)
            after.append(((recording.tau[part] - Y[part] @ found) ** 2).mean())
        gains = np.mean(before, axis=1) - after
        falls[name] = crossed.significance
        assert crossed.factor == 1.0
        assert crossed.significance == pytest.approx(
            gains.mean() / (gains.std(ddof=1) / np.sqrt(PARTS)), rel=1e-3)
    assert falls['other'] > 5.0 > SIGNIFICANT > falls['same']


@pytest.mark.parametrize('fall, reliable', [(1.0, True), (0.0, False), (-1.0, False),
                                            (np.nan, False)])
def test_equal_falls_are_judged_by_their_sign(fall, reliable):
    """Without a deviation t is infinite; what is not a number shows nothing."""
    crossed = CrossValidation(10.0, np.ones(3), _significance(np.full(PARTS, fall)))
    assert crossed.reliable is reliable
