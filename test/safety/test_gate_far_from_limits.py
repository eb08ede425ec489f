"""The short way through the gate, far from all limits, says what the long way says."""

import numpy as np
import pytest
from support.gate_bench import GRAVITY, PERIOD, QUICK, WANTED, Bench
from support.safe_arm import HOME, NAMES

from dynamics_node.safety import Gate, State
from dynamics_node.safety.state_checks import StateChecks

SHORT = (StateChecks, '_take_at_ease'), (Gate, '_unlimited')


def run(seed, calm):
    """Return all that a gate releases and says on a random walk; calm ones stay off the limits."""
    rng, bench = np.random.default_rng(seed), Bench(**QUICK)
    bench.enable()
    heard = []
    for _ in range(150):
        size = 0.01 if calm else rng.choice([0.01, 0.1, 1.0])
        bench.q = HOME + size * rng.normal(size=len(NAMES))
        bench.v = size * rng.normal(size=len(NAMES))
        bench.gravity = GRAVITY + size * rng.normal(size=len(NAMES))
        bench.torque = WANTED + size * rng.normal(size=len(NAMES)) * rng.choice([1.0, 10.0])
        if not calm and rng.random() < 0.01:
            bench.torque[rng.integers(len(NAMES))] = rng.choice([np.nan, np.inf, 1e300])
        release = bench.step(rng.choice([PERIOD, 2 * PERIOD]))
        heard.append((bench.state, None if release is None else release.effort.tolist(),
                      None if release is None else release.limited))
        if bench.gate.idle:
            bench.q, bench.v, bench.torque = HOME.copy(), np.zeros(len(NAMES)), WANTED.copy()
            bench.gravity = GRAVITY.copy()
            bench.enable()
    return heard, bench.gate.status()


@pytest.mark.parametrize('calm', [True, False])
@pytest.mark.parametrize('seed', range(20))
def test_short_and_long_way_agree(seed, calm, monkeypatch):
    """To the bit, also in what was limited and why."""
    short = run(seed, calm)
    for owner, name in SHORT:
        monkeypatch.setattr(owner, name, lambda *args: None)
    assert run(seed, calm) == short


@pytest.mark.parametrize('owner, name', SHORT)
def test_the_short_way_is_taken(owner, name, monkeypatch):
    """Or nothing would be proved above, nor gained."""
    taken, original = [], getattr(owner, name)

    def counted(*args):
        answer = original(*args)
        taken.append(answer is not None and answer is not False)
        return answer
    monkeypatch.setattr(owner, name, counted)
    heard, _ = run(0, calm=True)
    assert heard[-1][0] is State.ENABLED
    assert sum(taken) > 100
