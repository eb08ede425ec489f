"""Test the gate with bad inputs: named cases, each release checked against the contract.

Every case is run for every safe action, while enabled, during the ramp in and during the ramp out.
"""

import copy
from typing import NamedTuple

import numpy as np
import pytest
from support.gate_bench import GRAVITY, PERIOD, in_phase, steps
from support.safe_arm import HOME, LOWER, UPPER, VELOCITY

from dynamics_node.safety import State
from dynamics_node.safety.settings import SAFE_ACTIONS


class Case(NamedTuple):
    """The bad inputs, and the expected fault."""

    spoil: dict              # attribute of the Bench: value
    kind: str                # of fault
    trusted: bool = False    # whether the torque of gravity is still to be had
    on_the_way_out: bool = True   # whether it matters while ramping out
    lasts: bool = True       # whether enable is refused as long as it is there
    bridged: bool = False    # whether it is bridged first, while torques are wanted


def with_entry(vector, k, value):
    vector = np.array(vector, dtype=float)
    vector[k] = value
    return vector


ENABLED_ONLY = {'trusted': True, 'on_the_way_out': False}
CASES = {
    'the joint states are 60 ms late': Case({'delay': 0.06}, 'state stale', bridged=True),
    'the joint states are 60 ms in the future': Case({'delay': -0.06}, 'state from the future'),
    'the joint states have no stamp': Case({'delay': 1000.0}, 'state stale', bridged=True),
    'the stamp is nan': Case({'delay': np.nan}, 'state stale', bridged=True),
    'the joint states go back in time': Case({'delay': 0.04}, 'state back in time', lasts=False),
    'a position is nan': Case({'q': with_entry(HOME, 1, np.nan)}, 'state not finite'),
    'a position is infinite': Case({'q': with_entry(HOME, 2, -np.inf)}, 'state not finite'),
    'a position is absurd': Case({'q': with_entry(HOME, 1, 1e300)}, 'state not finite'),
    'a velocity is nan': Case({'v': with_entry(HOME, 0, np.nan)}, 'state not finite'),
    'a velocity is infinite': Case({'v': with_entry(HOME, 0, np.inf)}, 'state not finite'),
    'a joint is lost': Case({'q': HOME[:2], 'v': np.zeros(2)}, 'state malformed'),
    'a velocity is lost': Case({'v': np.zeros(2)}, 'state malformed'),
    'there is a joint too many': Case({'q': np.zeros(4), 'v': np.zeros(4)}, 'state malformed'),
    'the positions are none': Case({'q': None}, 'state malformed'),
    'the positions are words': Case({'q': ['a', 'b', 'c']}, 'state malformed'),
    'a position jumps by pi': Case({'q': with_entry(HOME, 1, HOME[1] + np.pi)}, 'state jump',
                                   lasts=False),
    'a position jumps by 0.3': Case({'q': with_entry(HOME, 0, HOME[0] + 0.3)}, 'state jump',
                                    lasts=False),
    'gravity is nan': Case({'gravity': with_entry(GRAVITY, 0, np.nan)}, 'gravity not finite'),
    'gravity is infinite': Case({'gravity': with_entry(GRAVITY, 0, np.inf)}, 'gravity not finite'),
    'gravity lacks a joint': Case({'gravity': GRAVITY[:2]}, 'state malformed'),
    'the torque is nan': Case({'torque': np.full(3, np.nan)}, 'torque not finite', **ENABLED_ONLY),
    'one torque is infinite': Case({'torque': np.array([1.0, np.inf, 1.0])}, 'torque not finite',
                                   **ENABLED_ONLY),
    'the torque lacks a joint': Case({'torque': np.ones(2)}, 'torque malformed', **ENABLED_ONLY),
    'the torque is a number': Case({'torque': 1.0}, 'torque malformed', **ENABLED_ONLY),
    'there is no torque': Case({'torque': None}, 'torque malformed', **ENABLED_ONLY),
    'the reference stops': Case({'reference_age': 0.51}, 'reference stale', **ENABLED_ONLY),
    'the reference is of the future': Case({'reference_age': -0.51}, 'reference stale',
                                           **ENABLED_ONLY),
    'the age of the reference is nan': Case({'reference_age': np.nan}, 'reference stale',
                                            **ENABLED_ONLY),
    'a second publisher appears': Case({'other_publisher': True}, 'other publisher', trusted=True),
    'a joint is too fast': Case({'v': with_entry(np.zeros(3), 1, 1.21 * VELOCITY[1])},
                                'velocity beyond limit', trusted=True),
    'a joint is too fast backwards': Case({'v': with_entry(np.zeros(3), 0, -1.21 * VELOCITY[0])},
                                          'velocity beyond limit', trusted=True),
}
BEYOND = {
    'a joint is beyond its upper limit': (0, UPPER[0] + 0.051),
    'a joint is beyond its lower limit': (0, LOWER[0] - 0.051),
    'a slide is beyond its upper limit': (2, UPPER[2] + 0.051),
    'a slide is beyond its lower limit': (2, LOWER[2] - 0.051),
}


def spoilt(bench, spoil):
    good = {name: copy.copy(getattr(bench, name)) for name in spoil}
    vars(bench).update(spoil)
    return good


def check(bench, case):
    """Apply the case; assert the fault, its end, that it stays, and that enable is needed."""
    good = spoilt(bench, case.spoil)
    settings, before = bench.settings, bench.state
    if case.bridged and before in (State.RAMPING_IN, State.ENABLED):
        bench.run(steps(settings.max_state_age + settings.bridge_time) - 3)
        assert bench.state is before and bench.gate.status().bridged == 1
        bench.run(3)
    else:
        bench.step()
    start = len(bench.releases) - 2   # released before the fault
    assert bench.state is State.FAULT and bench.gate.status().refused[case.kind] == 1
    assert bench.gate.status().reason
    last = bench.comes_to_rest()
    by_gravity = settings.safe_action == 'gravity'
    assert np.array_equal(last, GRAVITY if by_gravity and case.trusted else np.zeros(3))
    braked = settings.brake_time if case.kind == 'velocity beyond limit' else 0.0
    if by_gravity:
        reached = start + steps(braked + settings.ramp_out_time)
        assert bench.efforts[reached] == pytest.approx(GRAVITY, rel=0.15), 'before it decays'
    if settings.safe_action == 'hold':
        start += round(braked / PERIOD)
        held = round(settings.hold_time / PERIOD)
        assert bench.releases[start + held].numbers == bench.releases[start].numbers
    if case.lasts:
        bench.refuses(case.kind)
    vars(bench).update(good)
    assert not len(bench.run(50)) and bench.state is State.FAULT, 'a fault stays'
    bench.up()
    assert bench.state is State.ENABLED and bench.gate.status().reason == ''


@pytest.mark.parametrize('action', SAFE_ACTIONS)
@pytest.mark.parametrize('name', CASES)
def test_a_fault_while_enabled_ends_in_the_safe_torque(name, action):
    """It stays until enable."""
    case = CASES[name]
    check(in_phase('enabled', safe_action=action), case)


@pytest.mark.parametrize('name', CASES)
def test_a_fault_while_ramping_in_ends_in_the_safe_torque(name):
    """Before the ramp is over."""
    case = CASES[name]
    check(in_phase('ramping in'), case)


@pytest.mark.parametrize('name', CASES)
def test_a_fault_while_ramping_out_ends_in_the_safe_torque(name):
    """Inputs still in use are still checked; the others are not."""
    case = CASES[name]
    bench = in_phase('ramping out')
    if case.on_the_way_out:
        check(bench, case)
    else:
        spoilt(bench, case.spoil)
        assert np.array_equal(bench.comes_to_rest(), GRAVITY)
        assert bench.state is State.DISABLED and bench.gate.status().reason == ''


@pytest.mark.parametrize('action', SAFE_ACTIONS)
@pytest.mark.parametrize('name', BEYOND)
def test_a_position_beyond_its_limit_and_tolerance_is_a_fault(name, action):
    """Reached by moving; within the tolerance there is no fault."""
    k, end = BEYOND[name]
    bench = in_phase('enabled', safe_action=action)
    for share in np.linspace(0.0, 0.99, 200):
        bench.q = with_entry(HOME, k, (1.0 - share) * HOME[k] + share * end)
        bench.step()
    bench.q = with_entry(HOME, k, end - np.sign(end - HOME[k]) * 0.002)
    bench.step()
    assert bench.state is State.ENABLED
    check(bench, Case({'q': with_entry(HOME, k, end)}, 'position beyond limit', trusted=True))


@pytest.mark.parametrize('action', SAFE_ACTIONS)
@pytest.mark.parametrize('phase', ['ramping in', 'enabled', 'ramping out'])
def test_joint_states_that_stop_are_a_fault(phase, action):
    """Found by time alone, after it was bridged where torques were wanted."""
    bench = in_phase(phase, safe_action=action)
    silent = bench.run(25, tick=True)
    if bench.settings.safe_action == 'gravity' or phase != 'ramping out':
        assert not len(silent), 'a state that is fresh is waited for'
    if phase != 'ramping out':
        bridged = bench.run(12, tick=True)
        assert bench.state.value == phase and len(bridged) == 12
        assert np.abs(bridged[-1] - GRAVITY).max() < np.abs(bench.efforts[-13] - GRAVITY).max()
    bench.run(2, tick=True)
    if action == 'gravity' or phase != 'ramping out':
        assert bench.state is State.FAULT and 'old' in bench.gate.status().reason
    last = bench.comes_to_rest(tick=True)
    assert np.array_equal(last, np.zeros(3))
    assert not len(bench.run(50)), 'nothing starts by itself when they come back'


@pytest.mark.parametrize('action', SAFE_ACTIONS)
@pytest.mark.parametrize('jump', [-1e-6, -0.01, -3600.0, 0.2001, 3600.0, np.inf, np.nan])
def test_a_jump_of_the_clock_is_a_fault(jump, action):
    """Back or forward; time continues from the new value."""
    bench = in_phase('enabled', safe_action=action)
    start, before = bench.releases[-1].effort, bench.now
    release = bench.step(after=jump)
    assert bench.state is State.FAULT and bench.gate.status().refused['clock'] == 1
    assert np.array_equal(release.effort, start), 'no time has passed that can be trusted'
    if not np.isfinite(bench.now):
        bench.now = before
    assert np.array_equal(bench.comes_to_rest(), GRAVITY if action == 'gravity' else np.zeros(3))
    bench.up()
    assert bench.state is State.ENABLED


def test_a_clock_that_was_set_without_the_stamps_makes_the_state_invalid():
    """The next joint state is from the future."""
    bench = in_phase('enabled')
    bench.delay = -1.0
    bench.step(after=-1.0)
    assert np.array_equal(bench.comes_to_rest(), np.zeros(3))
    assert bench.gate.status().refused == {'clock': 1, 'state from the future': 1}


@pytest.mark.parametrize('call', ['tick', 'disable', 'report_fault', 'change_limits'])
def test_a_jump_of_the_clock_is_found_in_every_call(call):
    """Not only in a step."""
    bench = in_phase('enabled')
    bench.now -= 0.5
    {'tick': lambda: bench.tick(0.0), 'disable': bench.disable, 'report_fault': bench.report_fault,
     'change_limits': lambda: bench.change_limits(None)}[call]()
    assert bench.state is State.FAULT
    if call == 'report_fault':
        assert bench.gate.status().reason == 'an exception'
        assert bench.gate.status().refused == {'from outside': 1}
    # a change of the limits makes the state invalid
    safe = np.zeros(3) if call == 'change_limits' else GRAVITY
    assert np.array_equal(bench.comes_to_rest(), safe)


def test_a_short_pause_is_no_jump_and_does_not_widen_the_slew_limit():
    """After 0.2 s the torque changes by no more than in max_state_age."""
    bench = in_phase('enabled', slew_time=0.4)
    start = bench.releases[-1].effort
    bench.torque = -bench.torque
    release = bench.step(after=0.1999)
    assert bench.state is State.ENABLED
    change = np.abs(release.effort - start)
    assert change == pytest.approx(bench.contract.slew * bench.settings.max_state_age)
