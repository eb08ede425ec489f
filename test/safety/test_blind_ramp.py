"""Test the last torques without a joint state: within the limits, to the safe torque."""

import numpy as np
import pytest

from dynamics_node.safety import SafetySettings
from dynamics_node.safety.blind_ramp import blind_ramp
from dynamics_node.safety.settings import SAFE_ACTIONS

EFFORT = np.array([120.0, 80.0, 20.0, 0.0])   # the last joint has no motor
PERIOD = 0.005


def ramp(action, last, gravity, slew, **times):
    settings = SafetySettings(safe_action=action, exit_period=PERIOD, **times)
    return np.array(blind_ramp(last, gravity, slew, settings))


def drawn(rng):
    """Return a random last torque, gravity torque and slew limits."""
    last, gravity = (tuple(rng.uniform(-EFFORT, EFFORT)) for _ in range(2))
    return last, gravity, tuple(EFFORT / rng.uniform(0.01, 0.4))


@pytest.mark.parametrize('action', SAFE_ACTIONS)
@pytest.mark.parametrize('seed', range(20))
def test_every_torque_is_within_the_limits_and_the_last_one_is_zero(action, seed):
    rng = np.random.default_rng(seed)
    last, gravity, slew = drawn(rng)
    times = {'ramp_out_time': rng.uniform(0.0, 0.8), 'hold_time': rng.uniform(0.0, 0.5),
             'blind_gravity_time': rng.uniform(0.0, 3.0)}
    torques = ramp(action, last, gravity, slew, **times)
    assert tuple(torques[0]) == last
    assert not torques[-1].any()
    assert (np.abs(torques) <= EFFORT).all()
    steps = np.abs(np.diff(torques, axis=0))
    assert (steps <= np.array(slew) * PERIOD * (1.0 + 1e-9)).all()


def test_gravity_is_reached_and_decays_evenly():
    torques = ramp('gravity', (10.0, 0.0), (40.0, -8.0), (1e3, 1e3), ramp_out_time=0.1,
                   blind_gravity_time=2.0)
    reached = 0.1 / PERIOD
    np.testing.assert_array_equal(torques[round(reached)], (40.0, -8.0))
    half = torques[round(reached + 1.0 / PERIOD)]
    np.testing.assert_allclose(half, (20.0, -4.0), rtol=1e-12)
    assert len(torques) == round(1 + 2.1 / PERIOD)


def test_hold_keeps_the_last_torque_first():
    torques = ramp('hold', (10.0,), (40.0,), (1e3,), hold_time=0.5, ramp_out_time=0.1)
    assert (torques[:round(0.5 / PERIOD) + 1] == 10.0).all()
    assert len(torques) == round(1 + 0.6 / PERIOD)


def test_zero_does_not_pass_through_gravity():
    torques = ramp('zero', (10.0,), (40.0,), (1e3,), ramp_out_time=0.1)
    assert (np.diff(torques[:, 0]) < 0.0).all()
