"""Test the exit of the gate: the last message is the safe torque, within a second."""

import numpy as np
import pytest
from support.gate_bench import GRAVITY, QUICK, WANTED, Bench, in_phase
from support.safe_arm import EFFORT

from dynamics_node.safety import State
from dynamics_node.safety.settings import EXIT_TIME, SAFE_ACTIONS

ZERO = np.zeros(3)


@pytest.mark.parametrize('action', SAFE_ACTIONS)
@pytest.mark.parametrize('phase', ['ramping in', 'enabled', 'ramping out'])
def test_exit_from_every_state_ends_in_the_safe_torque(phase, action):
    """Without a fault."""
    bench = in_phase(phase, safe_action=action)
    start = bench.releases[-1].effort
    releases = bench.exit()
    safe = GRAVITY if action == 'gravity' else ZERO
    assert np.array_equal(releases[0].effort, start), 'the first may come at once'
    assert np.array_equal(releases[-1].effort, safe)
    assert len(releases) == 11, 'ramp_out_time / exit_period, rounded up'
    assert bench.state is State.DISABLED and not len(bench.run(50))


@pytest.mark.parametrize('trusted', [True, False])
def test_exit_from_a_fault_ends_in_gravity_or_zero(trusted):
    """Gravity if the state is valid; the fault stays."""
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


@pytest.mark.parametrize('silence, safe', [(0.051, GRAVITY), (0.05 + QUICK['bridge_time'], GRAVITY),
                                           (0.051 + QUICK['bridge_time'], ZERO)])
def test_exit_with_a_stale_state_ends_in_gravity_while_that_can_be_bridged(silence, safe):
    """Later in zero."""
    bench = in_phase('enabled')
    bench.now += silence
    assert np.array_equal(bench.exit()[-1].effort, safe)


@pytest.mark.parametrize('now', [np.nan, np.inf, -1e9])
def test_exit_at_an_invalid_time_ends_in_gravity(now):
    """The last joint state was valid a moment before."""
    bench = in_phase('enabled')
    bench.now = now
    assert np.array_equal(bench.exit()[-1].effort, GRAVITY)


def test_exit_after_a_ramp_out_releases_nothing():
    """The safe torque was the last release."""
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


def test_exit_at_the_safe_torque_releases_it_once():
    """One more message."""
    bench = in_phase('enabled', ramp_out_time=0.0)
    bench.torque = GRAVITY
    bench.run(100)
    assert len(bench.exit()) == 2


def test_enable_after_exit_starts_from_the_measured_effort():
    """A node that was deactivated may be activated again."""
    bench = in_phase('enabled')
    bench.exit()
    bench.effort = GRAVITY
    bench.enable()
    assert bench.step().effort == pytest.approx(GRAVITY + (WANTED - GRAVITY) / 20)


def test_exit_while_a_model_changes_lets_the_old_torque_decay():
    """At once, under the names of the old model."""
    bench = in_phase('enabled')
    bench.change_limits(None)
    assert np.array_equal(bench.exit()[-1].effort, ZERO)
    bench.refuses('no model')
