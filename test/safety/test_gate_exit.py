"""The last message on every orderly exit is the safe one, and it takes less than a second."""

import numpy as np
import pytest
from support.gate_bench import GRAVITY, QUICK, WANTED, Bench, in_phase
from support.safe_arm import EFFORT

from dynamics_node.safety import State
from dynamics_node.safety.settings import EXIT_TIME, SAFE_ACTIONS

ZERO = np.zeros(3)


@pytest.mark.parametrize('action', SAFE_ACTIONS)
@pytest.mark.parametrize('phase', ['ramping in', 'enabled', 'ramping out'])
def test_exit_from_every_state(phase, action):
    """Straight to the safe torque."""
    bench = in_phase(phase, safe_action=action)
    start = bench.releases[-1].effort
    releases = bench.exit()
    safe = GRAVITY if action == 'gravity' else ZERO
    assert np.array_equal(releases[0].effort, start), 'the first may come at once'
    assert np.array_equal(releases[-1].effort, safe)
    assert len(releases) == 11, 'ramp_out_time / exit_period, rounded up'
    assert bench.state is State.DISABLED and not len(bench.run(50))


@pytest.mark.parametrize('trusted', [True, False])
def test_exit_from_a_fault(trusted):
    """To gravity if the state can be trusted; the fault stays."""
    bench = in_phase('enabled')
    bench.torque, good = np.full(3, np.nan), bench.torque
    if not trusted:
        bench.v, v = np.full(3, np.nan), bench.v
    bench.step()
    bench.run(10)
    bench.torque = good
    bench.v = bench.v if trusted else v
    releases = bench.exit()
    assert np.array_equal(releases[-1].effort, GRAVITY if trusted else ZERO)
    assert bench.state is State.FAULT


def test_exit_with_a_state_gone_stale():
    """To zero."""
    bench = in_phase('enabled')
    bench.now += 0.051
    assert np.array_equal(bench.exit()[-1].effort, ZERO)


@pytest.mark.parametrize('now', [np.nan, np.inf, -1e9])
def test_exit_at_no_time_at_all(now):
    """It must not fail: to zero."""
    bench = in_phase('enabled')
    bench.now = now
    assert np.array_equal(bench.exit()[-1].effort, ZERO)


def test_exit_after_the_end_of_a_way_down():
    """The safe torque was the last already."""
    bench = in_phase('enabled')
    bench.disable()
    bench.comes_to_rest()
    assert bench.exit() == ()
    bench = in_phase('enabled')
    bench.report_fault()
    bench.comes_to_rest()
    assert bench.exit() == ()


def test_the_longest_exit_is_short_enough():
    """From one effort limit to the other at the slowest slew, in large steps."""
    bench = Bench(**{**QUICK, 'slew_time': EXIT_TIME / 2, 'exit_period': 0.05})
    bench.torque, bench.gravity = EFFORT, -EFFORT
    bench.enable()
    bench.run(1000)
    assert np.array_equal(bench.releases[-1].effort, EFFORT)
    releases = bench.exit()
    assert np.array_equal(releases[-1].effort, -EFFORT)
    assert (len(releases) - 1) * 0.05 <= EXIT_TIME + 1e-9


def test_exit_with_nothing_to_ramp():
    """One more message, the safe one."""
    bench = in_phase('enabled', ramp_out_time=0.0)
    bench.torque = GRAVITY
    bench.run(100)
    assert len(bench.exit()) == 2


def test_enable_after_exit():
    """A node that was deactivated may be activated again; it starts from what is measured."""
    bench = in_phase('enabled')
    bench.exit()
    bench.effort = GRAVITY
    bench.enable()
    assert bench.step().effort == pytest.approx(GRAVITY + (WANTED - GRAVITY) / 20)


def test_exit_while_a_model_changes():
    """The former decays at once, under its names."""
    bench = in_phase('enabled')
    bench.change_limits(None)
    assert np.array_equal(bench.exit()[-1].effort, ZERO)
    bench.refuses('no model')
