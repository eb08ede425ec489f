"""Test the boundary between valid states and faults."""

import numpy as np
import pytest
from support.gate_bench import GRAVITY, PERIOD, QUICK, WANTED, Bench, in_phase
from support.safe_arm import EFFORT, HOME, UPPER, VELOCITY, gate_limits, robot

from dynamics_node.safety import Refused, SafetySettings, State, gate_limits_of, limits_of, releaser
from dynamics_node.safety.clock import Clock
from dynamics_node.safety.faults import GRAVITY_NOT_FINITE, TORQUE_NOT_FINITE
from dynamics_node.safety.ramp import TorqueRamp
from dynamics_node.safety.records import Measured, Proposal
from dynamics_node.safety.state_checks import StateChecks


def moved(bench, k, by):
    bench.q = bench.q.copy()
    bench.q[k] += by
    bench.step()
    return bench.state is State.FAULT


@pytest.mark.parametrize('delay, fault', [(0.05, False), (0.0501, True), (-0.05, False),
                                          (-0.0501, True)])
def test_a_state_older_than_the_limit_is_a_fault(delay, fault):
    """At the limit it is valid."""
    bench = Bench(**QUICK)
    bench.now, bench.delay = 0.0, delay
    if fault:
        bench.refuses('state stale' if delay > 0.0 else 'state from the future')
    else:
        bench.enable()


@pytest.mark.parametrize('age, fault', [(None, False), (0.5, False), (0.51, True)])
def test_a_reference_older_than_the_limit_is_a_fault(age, fault):
    """None: the mode follows none."""
    bench = in_phase('enabled')
    bench.reference_age = age
    bench.step()
    assert (bench.state is State.FAULT) == fault


@pytest.mark.parametrize('k', [0, 1, 2])
def test_a_jump_beyond_the_velocity_limit_is_a_fault(k):
    """With jump_tolerance added."""
    allowed = 1.2 * VELOCITY[k] * PERIOD + 0.1
    assert not moved(in_phase('enabled'), k, 0.99 * allowed)
    assert moved(in_phase('enabled'), k, -1.01 * allowed)


def test_the_permitted_jump_grows_with_time():
    """By the time between the states, or between the calls if that is longer."""
    bench = in_phase('enabled')
    bench.now += 0.04
    assert not moved(bench, 0, 0.19)
    bench = in_phase('enabled')
    bench.delay = -0.04
    assert not moved(bench, 0, 0.19)
    bench = in_phase('enabled')
    bench.now += 0.04
    bench.delay = 0.04 + PERIOD   # one joint of several is reported again and again
    assert not moved(bench, 0, 0.19)


def test_a_jump_of_a_joint_without_velocity_limit_is_a_fault():
    """By jump_speed."""
    limits = limits_of(robot(velocities=np.full(3, np.nan)))
    for by in (0.19, np.pi):
        bench = Bench(gate_limits_of(limits, SafetySettings(**QUICK)), **QUICK).up()
        bench.v = np.full(3, 100.0)   # no limit, no fault
        assert moved(bench, 1, by) == (by == np.pi)


def test_a_full_turn_of_a_continuous_joint_is_no_jump():
    """A driver may report it between -pi and pi, or count the turns."""
    bench = in_phase('enabled')
    assert not moved(bench, 1, 2 * np.pi) and not moved(bench, 1, -6 * np.pi)
    assert moved(bench, 1, 3 * np.pi)
    bench = in_phase('enabled')
    assert moved(bench, 0, 2 * np.pi)
    assert bench.gate.status().refused['state jump'], 'a revolute joint has moved'


def test_a_state_may_be_used_twice():
    """At a fixed rate the same stamp is used again while it is valid."""
    bench = in_phase('enabled')
    for _ in range(20):
        bench.delay += PERIOD
        assert np.array_equal(bench.step().effort, WANTED)


def test_the_gate_copies_its_arguments():
    """A caller may reuse its arrays."""
    bench = in_phase('enabled')
    bench.q[1] += 1.0
    bench.step()
    assert 'moved by 1 ' in bench.gate.status().reason
    bench = in_phase('enabled')
    bench.gravity[:] = np.nan
    assert np.array_equal(bench.gate.shutdown_sequence(bench.now)[-1].effort, GRAVITY)


def test_a_release_is_read_only():
    """The next one is compared with it."""
    bench = in_phase('enabled')
    release = bench.step()
    release.effort[0] = 1e9
    assert release.numbers == tuple(WANTED) and bench.step().numbers == release.numbers
    with pytest.raises(TypeError):
        release.numbers[0] = 1e9


@pytest.mark.parametrize('wrong', [np.nan, 1e9])
def test_the_final_check_stops_a_wrong_torque(wrong, monkeypatch):
    """Whatever error the gate itself might have."""
    bench = in_phase('enabled')
    bench.q = np.array([UPPER[0], *HOME[1:]])
    bench.gate._state_checks.measured = bench.q.tolist(), bench.v.tolist()
    last = bench.releases[-1].effort
    with monkeypatch.context() as patch:
        patch.setattr(releaser, 'fade_near_limits', lambda *_: ([wrong] * 3, [], []))
        patch.setattr(releaser, 'limit_slew', lambda limits, torque, *_: (torque, []))
        release = bench.gate.step(bench.now + PERIOD, bench.proposal)
    assert np.array_equal(release.effort, last) and bench.state is State.FAULT
    assert 'internal error of the gate' in bench.gate.status().reason
    assert np.array_equal(bench.comes_to_rest(), np.zeros(3))


def test_the_final_check_stops_a_wrong_first_release(monkeypatch):
    """Then there is no release at all."""
    bench = Bench(ramp_in_time=0.0)
    bench.enable()
    monkeypatch.setattr(releaser, 'limit_slew', lambda *_: ([np.nan] * 3, []))
    assert bench.gate.step(bench.now + PERIOD, bench.proposal) is None
    assert bench.state is State.FAULT and bench.gate.idle


def test_an_invalid_clock_refuses_enable():
    """NaN, or a jump while a torque still decays."""
    bench = Bench(**QUICK)
    bench.now = np.nan
    bench.refuses('clock')
    bench = in_phase('ramping out')
    bench.now += 1.0
    bench.refuses('clock')
    assert np.array_equal(bench.comes_to_rest(), GRAVITY)


def test_a_late_caller_is_no_jump_of_the_clock():
    """A clock that is never set tells the two apart; in simulated time there is none."""
    steady = iter([0.0, 0.5, 0.5, 0.6, None, 0.9])
    clock = Clock(0.2, lambda: next(steady))
    assert clock.advance(7.0) == (0.0, None)
    assert clock.advance(7.5) == (0.5, None)
    assert clock.advance(7.75)[1].kind == 'clock'
    assert clock.advance(7.85)[1] is None
    assert clock.advance(8.35)[1].kind == 'clock'
    assert clock.advance(8.85)[1].kind == 'clock'


def test_the_clock_reports_elapsed_time_and_jumps():
    """What has passed, what is a jump, and where it goes on."""
    clock = Clock(0.2)
    assert clock.advance(5.0) == (0.0, None)
    assert clock.advance(5.125) == (0.125, None)
    assert clock.advance(5.125) == (0.0, None)
    for now, words in ((5.0, 'back by 0.125 s'), (6.0, 'forward by 1 s'), (np.nan, 'is nan'),):
        passed, fault = clock.advance(now)
        assert passed == 0.0 and words in fault.text
    assert clock.advance(7.0) == (0.0, None)
    clock.stop()
    assert clock.advance(100.0) == (0.0, None)


@pytest.mark.parametrize('hold', [0.0, 1.0])
@pytest.mark.parametrize('duration', [0.0, 2.0])
def test_a_ramp_is_constant_then_linear_and_ends_exactly(duration, hold):
    """Holds, goes straight, ends exactly."""
    start, end = np.array([0.1, 0.2]), np.array([0.7, -0.3])
    ramp = TorqueRamp(start, duration, hold)
    if hold:
        assert np.array_equal(ramp.towards(end, 0.0), start)
        assert np.array_equal(ramp.towards(end, 0.99), start)
    if duration:
        assert ramp.towards(end, hold + 0.5) == pytest.approx(0.75 * start + 0.25 * end)
    assert ramp.towards(end, hold + duration) is end and ramp.towards(end, 99.0) is end


def test_a_ramp_between_equal_ends_is_constant():
    """To the bit: at the effort limit a rounding error would be beyond it."""
    ramp = TorqueRamp(EFFORT / 3.0, 1.0)
    for elapsed in np.linspace(0.0, 1.0, 1001):
        assert np.array_equal(ramp.towards(EFFORT / 3.0, elapsed), EFFORT / 3.0)


def test_a_refusal_is_an_error_with_a_kind():
    """It can be pickled."""
    import pickle
    refusal = pickle.loads(pickle.dumps(Refused('no state', 'nothing measured')))
    assert refusal.kind == 'no state' and str(refusal) == 'nothing measured'
    assert gate_limits().settings == SafetySettings()


def test_a_torque_that_is_gravity_is_checked_by_itself_where_gravity_was_not():
    """Mode gravity wants the same array: it is checked once, but never not at all."""
    checks, gravity = StateChecks(gate_limits()), GRAVITY.copy()
    proposal = Proposal(gravity, gravity, Measured(0.0, HOME, np.zeros(3)))
    broken = np.full(3, np.nan)
    wrong = Proposal(broken, broken, proposal.measured)
    for _ in range(2):
        assert checks.state_fault(0.0, proposal) is None
        assert checks.request_fault(proposal) is None and checks.torque == gravity.tolist()
        assert checks.request_fault(wrong).kind == TORQUE_NOT_FINITE
        assert checks.state_fault(0.0, wrong).kind == GRAVITY_NOT_FINITE
        assert checks.request_fault(wrong).kind == TORQUE_NOT_FINITE
        assert checks.torque == gravity.tolist()
