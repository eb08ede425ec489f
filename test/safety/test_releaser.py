"""Test the short way of a torque that no limit changes against the long one."""

import numpy as np
import pytest
from support.safe_arm import EFFORT, gate_limits

from dynamics_node.safety.effort_and_slew_limits import limit_effort, limit_slew
from dynamics_node.safety.releaser import Releaser

LIMITS = gate_limits()
START = (1.0, -2.0, 0.5)


def begun(seconds):
    """Return a Releaser, some time after it began at START."""
    out = Releaser()
    out.begin(LIMITS, START)
    out.pass_time(seconds)
    return out


@pytest.mark.parametrize('seed', range(200))
def test_the_short_way_releases_what_the_long_one_does_or_nothing(seed):
    """Torques at the slew limits, within and beyond, exactly on them too."""
    rng, seconds = np.random.default_rng(seed), (1e-3, 0.02, 1.0)[seed % 3]
    reach = np.array(LIMITS.slew) * min(seconds, LIMITS.settings.max_state_age)
    torque = (START + reach * rng.choice([-1.01, -1.0, -0.5, 0.0, 0.9, 1.0, 1.01], size=3)).tolist()
    within, changed = limit_effort(LIMITS, torque)
    _, changed_too = limit_slew(LIMITS, within, START, min(seconds, LIMITS.settings.max_state_age))
    short, long = begun(seconds), begun(seconds)
    release, expected = short.release_unlimited(torque), long.release(within)
    if within != torque or changed or changed_too:
        assert release is None and short.last == START and short.count == 0
    else:
        assert release == expected and expected.limited == ()
        assert (short.last, short.since, short.count, short.has_released) == (
            long.last, long.since, long.count, long.has_released)


@pytest.mark.parametrize('wrong', [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize('k', range(3))
def test_the_short_way_never_releases_a_torque_beyond_the_effort_limits(k, wrong):
    out = begun(1e9)
    torque = list(START)
    torque[k] = wrong
    assert out.release_unlimited(torque) is None
    torque[k] = 1.001 * EFFORT[k]
    assert out.release_unlimited(torque) is None
