"""Test that the gate skips the fade far from all limits without changing a bit."""

from dataclasses import replace

import numpy as np
import pytest
from support.gate_bench import GRAVITY, PERIOD, QUICK, WANTED, Bench
from support.safe_arm import HOME, NAMES, gate_limits

from dynamics_node.safety import State

LIMITS = gate_limits(**QUICK)
# No position is within a zone: every state counts as near a limit.
ALWAYS_NEAR = replace(LIMITS, zones=tuple(
    (k, np.inf, -np.inf, speed, jump) for k, _, _, speed, jump in LIMITS.zones))


def run(seed, calm, limits=LIMITS):
    """Return all releases and the status of a gate on a random walk, far from limits if calm."""
    rng, bench = np.random.default_rng(seed), Bench(limits, **QUICK)
    bench.enable()
    releases = []
    for _ in range(150):
        size = 0.01 if calm else rng.choice([0.01, 0.1, 1.0])
        bench.q = HOME + size * rng.normal(size=len(NAMES))
        bench.v = size * rng.normal(size=len(NAMES))
        bench.gravity = GRAVITY + size * rng.normal(size=len(NAMES))
        bench.torque = WANTED + size * rng.normal(size=len(NAMES)) * rng.choice([1.0, 10.0])
        if not calm and rng.random() < 0.01:
            bench.torque[rng.integers(len(NAMES))] = rng.choice([np.nan, np.inf, 1e300])
        release = bench.step(rng.choice([PERIOD, 2 * PERIOD]))
        releases.append((bench.state, None if release is None else release.effort.tolist(),
                      None if release is None else release.limited))
        if bench.gate.idle:
            bench.q, bench.v, bench.torque = HOME.copy(), np.zeros(len(NAMES)), WANTED.copy()
            bench.gravity = GRAVITY.copy()
            bench.enable()
    return releases, bench.gate.status()


@pytest.mark.parametrize('calm', [True, False])
@pytest.mark.parametrize('seed', range(20))
def test_with_and_without_the_fade_the_releases_agree(seed, calm):
    """To the bit, also in what was limited and why."""
    assert run(seed, calm) == run(seed, calm, ALWAYS_NEAR)


def test_the_fade_is_skipped_far_from_limits(monkeypatch):
    """Else the test above compares nothing."""
    def fade(*args):
        raise AssertionError('called')
    monkeypatch.setattr('dynamics_node.safety.releaser.fade_near_limits', fade)
    releases, _ = run(0, calm=True)
    assert releases[-1][0] is State.ENABLED
    with pytest.raises(AssertionError, match='called'):
        run(0, calm=True, limits=ALWAYS_NEAR)
