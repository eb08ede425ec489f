"""Test that friction which changes during a recording is named, with its size and time constant."""

import numpy as np
import pytest
from support.rough_recordings import recorded, three_joints

from dynamics_node.identification.drift_checks import FRICTION, OFFSET, drifts
from dynamics_node.identification.identifiable_parameters import base_parameters
from dynamics_node.identification.parameters import parameter_layout, parameter_values
from dynamics_node.identification.robot_fit import IdentificationOptions, identify

SAMPLES = 6000   # 60 s


@pytest.fixture(scope='module')
def robot(kernels):
    """Three joints with viscous and Coulomb friction."""
    return three_joints()


def warming(time, v):
    """Return the torque of a gear that loses 0.5 N m of friction with a time constant of 12 s."""
    torque = np.zeros_like(v)
    torque[:, 0] = 0.5 * np.exp(-time / 12.0) * np.sign(v[:, 0])
    return torque


def found(robot, **options):
    """Return the drifts of a recording, of the parameters that made it."""
    layout = parameter_layout(robot)
    base = base_parameters(robot, layout)
    return drifts(robot, base, recorded(robot, 0, **options),
                  base.values(parameter_values(robot, layout)))


def test_a_joint_that_warms_up_is_named(robot):
    """With the change within 20 % and the next time constant of the grid."""
    drift, = found(robot, samples=SAMPLES, more=warming)
    assert (drift.joint, drift.of) == ('shoulder', FRICTION)
    assert drift.change == pytest.approx(-0.5, rel=0.2)
    assert drift.time_constant == pytest.approx(12.0, rel=0.01)


def test_an_offset_that_drifts_is_named(robot):
    """Linear in time."""
    def more(time, v):
        return 0.01 * time[:, None] * np.array([0.0, 0.0, 1.0])
    drift, = found(robot, samples=SAMPLES, more=more)
    assert (drift.joint, drift.of, drift.time_constant) == ('wrist', OFFSET, None)
    assert drift.change == pytest.approx(0.6, rel=0.1)


def test_noise_is_no_drift(robot):
    """White, and with a correlation time of 2 s."""
    def slow(time, v):
        white = np.random.default_rng(5).normal(size=(len(time) + 400, 3))
        kernel = np.exp(-np.arange(400) / 200.0)
        return 0.01 * np.stack([np.convolve(x, kernel, 'valid')[:len(time)] for x in white.T], -1)
    assert not found(robot, samples=SAMPLES)
    assert not found(robot, samples=SAMPLES, more=slow)


def test_short_recordings_are_not_judged(robot):
    assert not found(robot, samples=2900, more=warming)


def test_an_identification_warns(robot):
    """In words; without a drift there is no such warning."""
    options = IdentificationOptions(friction='plain')
    text, = [text for text in identify(robot, recorded(robot, 0, SAMPLES, more=warming),
                                       options).warnings if 'changes by' in text]
    assert text.startswith('the friction of shoulder changes by -0.')
    assert 'with a time constant of about' in text and 'warms up' in text
    warnings = identify(robot, recorded(robot, 0, SAMPLES), options).warnings
    assert not [text for text in warnings if 'changes by' in text]
