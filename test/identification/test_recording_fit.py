"""Test recordings with the flaws of real ones: identified within the stated uncertainty."""

import re

import numpy as np
import pytest
from support.heavier_arm import other_values
from support.simple_recordings import fourier_motion
from support.tiny_robots import TWO_JOINTS

from dynamics_node import DynamicsError, Robot
from dynamics_node.identification import identify_recording, raw_recording
from dynamics_node.identification.parameters import parameter_layout, robot_with_parameters
from dynamics_node.identification.preparation import prepare

RATE, DURATION = 200.0, 30.0
NOISE, TORQUE_NOISE = 1e-5, 0.05     # [rad], [N m]
QUANTUM = 2.0 * np.pi / 4096         # of a 12-bit encoder
CUTOFF = 1.5 * 5.0 * (0.5 + 3.0 / 15.0)   # [Hz] five times the bandwidth and the window's
#                                          resolution, and half as much again
SIGMAS = 4.0                         # of an estimate: 13 of them exceed it once in 1200 tests


@pytest.fixture(scope='module')
def robot(kernels):
    """A chain of two joints, compiled."""
    return Robot.from_urdf(TWO_JOINTS)


@pytest.fixture(scope='module')
def truth(robot):
    layout = parameter_layout(robot)
    values = other_values(robot, layout, seed=1)
    values[layout.each('offset')] = 0.0
    return robot_with_parameters(robot, layout, values), values


def motion(time, begin=0.0):
    """Return (q, v, a) of a motion that starts at `begin`, within a second."""
    s = np.clip(time - begin, 0.0, 1.0)
    run = np.where(time < begin + 1.0, s ** 3 - 0.5 * s ** 4, time - begin - 0.5)
    rate, change = 3.0 * s ** 2 - 2.0 * s ** 3, 6.0 * s - 6.0 * s ** 2
    q, v, a = fourier_motion(run, 2)
    rate, change = rate[:, None], change[:, None]
    return q, v * rate, a * rate ** 2 + v * change


def measured(truth, time, delay=0.0, begin=-2.0):
    """Return (q, tau) at some times, with noise."""
    rng = np.random.default_rng(7)
    q, _, _ = motion(time, begin)
    tau = truth[0].inverse_dynamics(*motion(time - delay, begin))
    return (q + NOISE * rng.normal(size=q.shape), tau + TORQUE_NOISE * rng.normal(size=q.shape))


def flawed(name, truth):
    """Return a RawRecording with one flaw."""
    rng = np.random.default_rng(3)
    time = np.arange(round(DURATION * RATE)) / RATE
    stamps, delay, begin = time, 0.0, -2.0
    if name == 'jitter of the measurement':
        stamps = time = time + rng.uniform(-0.3, 0.3, len(time)) / RATE
    elif name == 'jitter of the stamps':
        stamps = time + rng.uniform(-0.3, 0.3, len(time)) / RATE
    elif name == 'late effort':
        delay = 0.1
    elif name == 'early effort':
        delay = -0.03
    elif name == 'idle':
        stamps = time = np.arange(round((DURATION + 40.0) * RATE)) / RATE
        begin = 40.0
    q, tau = measured(truth, time, delay, begin)
    if name == 'repeats':
        held = np.arange(len(time)) // 2 * 2
        q, tau = q[held], tau[held]
    elif name == 'irregular repeats':
        held = np.maximum.accumulate(np.where(rng.random(len(time)) < 0.3, 0, np.arange(len(time))))
        q, tau = q[held], tau[held]
    elif name == 'hiccups':
        kept = np.arange(len(time)) % 800 >= 8
        stamps, q, tau = stamps[kept], q[kept], tau[kept]
    elif name == 'counts':
        q = QUANTUM * np.round(q / QUANTUM)
    elif name == 'idle':   # held by stiction, of either sign
        tau[:round(20 * RATE), 1] += 0.3
    return raw_recording(('shoulder', 'elbow'), stamps, q, tau)


@pytest.mark.parametrize('name, words', [
    ('none', ''),
    ('jitter of the measurement', 'varies by'),
    ('jitter of the stamps', 'varies by'),
    ('repeats', '3000 of 6000 samples repeat the one before and are left out'),
    ('irregular repeats', 'samples repeat the one before and are left out'),
    ('hiccups', ''),
    ('idle', 'of 70 s are without motion and are left out'),
    ('late effort', 'efforts are (99|100|101).* ms late'),
    ('early effort', 'efforts are (29|30|31).* ms early'),
    ('counts', '')])
def test_parameters_are_right_within_their_uncertainty(robot, truth, name, words):
    """The cutoff is that of the motion, most of it is used, and the flaw is reported."""
    done = identify_recording(robot, flawed(name, truth))
    found, prepared = done.result, done.prepared
    assert 2.0 < prepared.cutoff < CUTOFF
    assert prepared.used > 0.85 * DURATION
    texts = ' | '.join(prepared.warnings)
    assert re.search(words, texts)
    assert bool(words) == bool(texts)
    off = (found.base_values - found.base.values(truth[1])) / found.base_spread.sigma
    assert np.abs(off).max() < SIGMAS


def test_all_flaws_at_once_are_corrected_and_reported(robot, truth):
    """Jitter, idle, late efforts, an encoder of 15 bits, irregular repeats and hiccups."""
    rng = np.random.default_rng(0)
    samples = round((DURATION + 10.0) * RATE)
    time = (np.arange(samples) + rng.uniform(-0.15, 0.15, samples)) / RATE
    q, tau = measured(truth, time, delay=0.04, begin=10.0)
    q = QUANTUM / 8.0 * np.round(q / (QUANTUM / 8.0))
    held = np.maximum.accumulate(np.where(rng.random(samples) < 0.2, 0, np.arange(samples)))
    kept = np.arange(samples) % 1600 >= 8
    raw = raw_recording(('shoulder', 'elbow'), time[kept], q[held][kept], tau[held][kept])
    done = identify_recording(robot, raw)
    texts = ' | '.join(done.warnings)
    for words in ('varies by', 'repeat the one before', 'without motion',
                  r'efforts are (39|4[01])\S* ms late'):
        assert re.search(words, texts)
    found = done.result
    assert done.prepared.used > 0.85 * DURATION and found.verdict.success
    off = (found.base_values - found.base.values(truth[1])) / found.base_spread.sigma
    assert np.abs(off).max() < SIGMAS


def test_gaps_longer_than_the_filter_are_reported(robot, truth):
    """The share of the recording that is left is in the warning."""
    raw = flawed('none', truth)
    kept = np.arange(len(raw.time)) % 400 >= 80
    texts = ' '.join(prepare(robot, raw.rows(kept)).warnings)
    assert re.search(r'only .* of 29.6 s can be used', texts)


def test_a_validation_of_another_kind_is_refused_before_the_work(robot, truth):
    time = np.arange(0.0, 1.0, 1.0 / RATE)
    raw = raw_recording(robot.joint_names, time, *measured(truth, time))
    with pytest.raises(DynamicsError, match='validation is .* expected a RawRecording'):
        identify_recording(robot, raw, progress=pytest.fail, validation='other.csv')
