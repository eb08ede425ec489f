"""Test what a Releaser releases: torques within the effort and slew limits, or nothing."""

import numpy as np
import pytest
from support.safe_arm import EFFORT, NAMES, gate_limits

from dynamics_node.safety.effort_and_slew_limits import limit_effort
from dynamics_node.safety.releaser import SLEW, Releaser

LIMITS = gate_limits()
START = (1.0, -2.0, 0.5)


def begun(seconds):
    """Return a Releaser, some time after it began at START."""
    out = Releaser()
    out.begin(LIMITS, START)
    out.pass_time(seconds)
    return out


@pytest.mark.parametrize('seconds', [1e-3, 0.02, 1.0])
def test_a_release_is_clipped_to_the_effort_and_slew_limits(seconds):
    """Torques at the limits, within and beyond, exactly on them too, against np.clip."""
    effort = np.array(LIMITS.effort)
    reach = np.array(LIMITS.slew) * min(seconds, LIMITS.settings.max_state_age)
    rng = np.random.default_rng(0)
    for _ in range(100):
        far = rng.choice([-1.01, -1.0, -0.5, 0.0, 0.9, 1.0, 1.01], size=3)
        torque = np.where(rng.random(3) < 0.8, START + reach * far, far * effort)
        within = np.clip(torque, -effort, effort)
        allowed = np.clip(within, np.array(START) - reach, np.array(START) + reach)
        out = begun(seconds)
        release = out.release(limit_effort(LIMITS, torque.tolist())[0])
        np.testing.assert_array_equal(release.effort, allowed)
        assert set(release.limited) == {
            (SLEW, name) for name, changed in zip(NAMES, allowed != within) if changed}
        assert (out.last, out.since, out.count, out.has_released) == (
            release.numbers, 0.0, 1, True)


@pytest.mark.parametrize('k', range(3))
def test_limit_effort_changes_only_the_joint_beyond_its_limit(k):
    torque, expected = list(START), list(START)
    torque[k], expected[k] = -1.001 * EFFORT[k], -EFFORT[k]
    assert limit_effort(LIMITS, torque) == (expected, [k])


@pytest.mark.parametrize('wrong', [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize('k', range(3))
def test_a_torque_beyond_the_effort_limits_is_never_made(k, wrong):
    out = begun(1e9)
    torque = list(START)
    torque[k] = wrong
    assert out.make(torque) is None
    torque[k] = 1.001 * EFFORT[k]
    assert out.make(torque) is None
    assert out.last == START and out.count == 0
