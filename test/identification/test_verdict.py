"""Test the verdict about an identification, and validation by another recording."""

import numpy as np
import pytest
from support.heavier_arm import other_values, recorded

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.cross_validation import CrossValidation
from dynamics_node.identification.parameters import parameter_layout
from dynamics_node.identification.robot_fit import identify
from dynamics_node.identification.uncertainty import Spread
from dynamics_node.identification.verdict import judge

NOISE = 0.1   # [N m]


@pytest.fixture(scope='module')
def arm(kernels):
    return Robot.from_urdf(ARM7)


@pytest.fixture(scope='module')
def recording(arm):
    layout = parameter_layout(arm)
    return recorded(arm, layout, other_values(arm, layout, seed=1), 2000, 2, NOISE)


@pytest.fixture(scope='module')
def found(arm, recording):
    return identify(arm, recording)


def test_the_headline_is_the_error_and_its_share_of_the_torque(found, recording):
    """Per joint and over all joints, of the last fifth, which is not fitted."""
    verdict, held_out = found.verdict, recording.rows(slice(1600, None))
    assert verdict.success and verdict.rows == found.robot.joint_names
    torque = np.sqrt(np.mean(held_out.tau ** 2, axis=0))
    left = held_out.tau - found.predict(held_out.q, held_out.v, held_out.a)
    np.testing.assert_allclose(verdict.torque, torque)
    np.testing.assert_allclose(verdict.error, np.sqrt(np.mean(left ** 2, axis=0)), rtol=1e-6)
    share = np.sqrt(np.mean(left ** 2) / np.mean(held_out.tau ** 2))
    assert verdict.total_share == pytest.approx(share, rel=1e-6)
    assert str(verdict).startswith(
        f'torque error on held-out samples: {verdict.total_error:.3g} N m or N, {share:.1%} of')
    assert f'joint_7 {verdict.error[6]:.3g} ({verdict.shares[6]:.1%})' in str(verdict)


def test_another_recording_validates(arm, recording):
    """Then the whole recording is fitted; torques with noise of 1 N m leave an error of 1 N m."""
    layout = parameter_layout(arm)
    other = recorded(arm, layout, other_values(arm, layout, seed=1), 500, 7, 10.0 * NOISE)
    verdict = identify(arm, recording, validation=other).verdict
    assert verdict.total_error == pytest.approx(10.0 * NOISE, rel=0.1)
    with pytest.raises(DynamicsError, match='lacks the joints'):
        identify(arm, recording, validation=other._replace(joint_names=('a', *'bcdefg')))


def test_torques_that_the_model_does_not_explain_are_no_success(arm, recording):
    """The effort of joint 2 is noise: the reason names it."""
    tau = recording.tau.copy()
    tau[:, 1] = 3.0 * np.random.default_rng(1).normal(size=len(tau)) * tau[:, 1].std()
    verdict = identify(arm, recording._replace(tau=tau)).verdict
    assert not verdict.success
    assert 'the model does not explain the recording' in verdict.reasons[0]
    assert 'joint_2' in verdict.reasons[0]


def test_an_error_that_grows_is_no_success(found):
    residuals = found.residuals._replace(validation_before=0.5 * found.residuals.validation_after)
    reasons = judge(found.rows, residuals, found.layout, found.before, found.values,
                    found.spread, found.crossed).reasons
    assert reasons == ('on held-out samples the torque error is 2 times that of the parameters '
                       'before',)


def test_data_that_determine_nothing_are_no_success(found):
    """The parameters are then those of the URDF."""
    wide = np.ones(found.layout.size)
    reasons = judge(found.rows, found.residuals, found.layout, found.before, found.before,
                    Spread(wide, wide, wide), found.crossed).reasons
    assert len(reasons) == 1 and 'the data determine no parameter' in reasons[0]


@pytest.mark.parametrize('factor, significance, share, good', [
    (1.0, 0.5, 0.05, True), (10.0, 2.2, 0.05, True), (10.0, 2.0, 0.05, False),
    (10.0, -3.0, 0.05, False), (10.0, -3.0, 0.009, True)])
def test_parts_that_are_not_predicted_better_are_no_success(found, factor, significance, share,
                                                            good):
    """Where residuals do not show the errors; t of five parts; unless the URDF was accurate."""
    crossed = CrossValidation(factor, found.crossed.error, significance)
    error = share * found.residuals.validation_torque
    residuals = found.residuals._replace(validation_before=error, validation_after=error)
    verdict = judge(found.rows, residuals, found.layout, found.before, found.values,
                    found.spread, crossed)
    assert verdict.success == good
    assert good or 'do not predict its other parts significantly better' in verdict.reasons[0]


@pytest.mark.parametrize('share, before, good', [
    (0.8, 0.4, False), (0.8, 0.79, True), (0.4, 0.1, True)])
def test_a_ruined_small_joint_is_no_success(found, share, before, good):
    """Though its error is small beside the torques of the other joints."""
    error, old, torque = (getattr(found.residuals, f'validation_{name}').copy()
                          for name in ('after', 'before', 'torque'))
    torque[6] = 0.001 * torque[1]
    error[6], old[6] = share * torque[6], before * torque[6]
    residuals = found.residuals._replace(validation_after=error, validation_before=old,
                                         validation_torque=torque)
    verdict = judge(found.rows, residuals, found.layout, found.before, found.values, found.spread,
                    found.crossed)
    assert verdict.success == good
    assert good or 'the torque error of joint_7 is 80% of its torque' in verdict.reasons[0]
    assert good or 'and was 40% before' in verdict.reasons[0]


def test_the_effort_of_a_small_joint_in_the_fit_alone(arm, recording):
    """Ten times as large in the fitted samples: the held-out ones show the ruin."""
    tau = recording.tau.copy()
    tau[:1600, 6] *= 10.0
    verdict = identify(arm, recording._replace(tau=tau)).verdict
    assert verdict.total_share < 0.3
    assert any('the torque error of joint_7 is' in text for text in verdict.reasons)


@pytest.mark.parametrize('factor, told, good', [
    (4.0, False, False), (0.2, False, False), (2.5, False, True), (4.0, True, True)])
def test_a_mass_that_changes_must_be_told_by_the_data(found, factor, told, good):
    """More than three times heavier or lighter."""
    values = found.before.copy()
    values[found.layout.of_body(2)] *= factor
    sigma = np.full(len(values), 0.1)
    sigma[found.layout.of_body(2)] = 0.1 if told else 1.0
    verdict = judge(found.rows, found.residuals, found.layout, found.before, values,
                    Spread(sigma, sigma, np.ones(len(values))), found.crossed)
    assert verdict.success == good
    assert good or 'the mass of link_3 changes from' in verdict.reasons[0]
