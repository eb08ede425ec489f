"""Test sequences of enable, disable, faults and exits of the gate, in every order."""

import numpy as np
import pytest
from support.gate_bench import GRAVITY, PERIOD, QUICK, WANTED, Bench, in_phase
from support.safe_arm import EFFORT, NAMES, gate_limits, robot

from dynamics_node.safety import Gate, SafetySettings, State, gate_limits_of, limits_of
from dynamics_node.safety.settings import SAFE_ACTIONS

ZERO = np.zeros(3)


def test_nothing_is_released_before_enable():
    """By steps, ticks, exit or disable."""
    bench = Bench()
    assert not len(bench.run(50)) and not len(bench.run(50, tick=True))
    bench.disable()
    bench.report_fault()
    assert bench.state is State.DISABLED and bench.exit() == ()


def test_the_ramp_in_begins_at_zero_and_is_linear():
    """From zero to the wanted torque; then enabled."""
    bench = Bench(**QUICK, unknown_start='zero')
    bench.enable()
    assert bench.state is State.RAMPING_IN
    released = bench.run(19)
    assert bench.state is State.RAMPING_IN
    shares = np.arange(1, 20) / 20
    assert released == pytest.approx(shares[:, None] * WANTED, abs=1e-9)
    assert bench.step().effort == pytest.approx(WANTED)
    assert bench.state is State.ENABLED


def test_the_ramp_in_begins_at_the_measured_effort():
    """As far as it is known."""
    bench = Bench(ramp_in_time=1.0, unknown_start='zero')
    bench.effort = np.array([18.0, np.nan, 7.0])
    bench.enable()
    start = np.array([18.0, 0.0, 7.0])
    assert bench.step().effort == pytest.approx(start + PERIOD * (WANTED - start))


def test_the_ramp_in_begins_at_gravity_where_no_effort_is_known():
    """The first torque holds the arm still."""
    for effort, start in ((None, GRAVITY), (np.array([np.nan, 3.0, np.nan]), [12.0, 3.0, 30.0])):
        bench = Bench(ramp_in_time=1.0)
        bench.effort = effort
        bench.enable()
        assert bench.step().effort == pytest.approx(start + PERIOD * (WANTED - start))


@pytest.mark.parametrize('effort', [np.zeros(2), 'none', 5.0])
def test_a_malformed_measured_effort_is_ignored(effort):
    """The ramp begins at gravity."""
    bench = Bench(ramp_in_time=1.0)
    bench.effort = effort
    bench.enable()
    assert bench.step().effort == pytest.approx(GRAVITY + PERIOD * (WANTED - GRAVITY))


def test_a_wanted_torque_within_limits_is_released_unchanged():
    """To the bit."""
    bench = Bench(**QUICK).up()
    for k in range(100):
        bench.torque = WANTED + np.sin(0.1 * k)
        assert np.array_equal(bench.step().effort, bench.torque)
    assert bench.gate.status().limited == {}


def test_efforts_are_clamped_and_counted_by_joint():
    """No release is beyond the limit; every clamp is reported."""
    bench = Bench(**QUICK).up()
    bench.torque = np.array([1e300, WANTED[1], -101.0])
    bench.run(200)
    assert np.array_equal(bench.releases[-1].effort, [EFFORT[0], WANTED[1], -EFFORT[2]])
    assert bench.releases[-1].limited == (('effort', 'shoulder'), ('effort', 'slide'))
    limited = bench.gate.status().limited
    assert limited['effort', 'shoulder'] == limited['effort', 'slide'] == 200
    assert ('effort', 'elbow') not in limited and 0 < limited['slew', 'shoulder'] < 200


def test_a_step_of_the_wanted_torque_is_slew_limited():
    """Full effort in slew_time."""
    bench = Bench(**QUICK).up()
    before, bench.torque = bench.releases[-1].effort, -EFFORT
    release = bench.step()
    assert release.effort == pytest.approx(before - EFFORT / 25)
    assert release.limited == tuple(('slew', name) for name in NAMES)


def test_two_calls_at_one_time_release_the_same_torque():
    """No time, no change."""
    bench = Bench(**QUICK).up()
    before, bench.torque = bench.releases[-1].effort, -EFFORT
    assert np.array_equal(bench.step(after=0.0).effort, before)


@pytest.mark.parametrize('action', SAFE_ACTIONS)
@pytest.mark.parametrize('phase', ['ramping in', 'enabled'])
def test_disable_ramps_out(phase, action):
    """To the safe torque, then no release."""
    bench = in_phase(phase, safe_action=action)
    bench.disable()
    assert bench.state is State.RAMPING_OUT
    start = bench.releases[-1].effort
    way = bench.run(10)
    safe = GRAVITY if action == 'gravity' else ZERO
    assert way[-1] == pytest.approx(0.6 * start + 0.4 * safe), 'no hold: this is no fault'
    assert np.array_equal(bench.comes_to_rest(), safe)
    assert bench.state is State.DISABLED and not len(bench.run(50))


def test_the_ramp_out_ends_in_the_present_gravity_torque():
    """Not in that of its beginning."""
    bench = in_phase('enabled')
    bench.disable()
    for _ in range(100):
        bench.gravity = bench.gravity + 0.01
        bench.step()
    last = bench.releases[-1].effort
    assert last == pytest.approx(GRAVITY + 0.25) and bench.gate.idle


def test_the_ramp_out_from_gravity_to_gravity_has_full_length():
    """The arm may still be moving."""
    bench = in_phase('enabled')
    bench.torque = bench.gravity
    bench.run(50)
    bench.disable()
    assert len(bench.run(24)) == 24 and bench.state is State.RAMPING_OUT
    bench.run(1)
    assert bench.state is State.DISABLED


def test_gravity_beyond_the_effort_limit_is_clamped():
    """The limit comes first."""
    bench = in_phase('enabled')
    bench.gravity = 10 * EFFORT
    bench.disable()
    assert np.array_equal(bench.comes_to_rest(), EFFORT)


def test_a_slew_limit_stretches_the_ramp_out():
    """It ends later, in the safe torque all the same."""
    bench = in_phase('enabled', ramp_out_time=0.0, slew_time=0.4)
    bench.disable()
    bench.run(10)
    assert bench.state is State.RAMPING_OUT
    assert np.array_equal(bench.comes_to_rest(), GRAVITY)


@pytest.mark.parametrize('cause', ['disable', 'report_fault'])
def test_disable_before_the_first_release_releases_nothing(cause):
    """The drive never gets a message."""
    bench = Bench(**QUICK)
    bench.effort = np.array([5.0, 3.0, 5.0])
    bench.enable()
    getattr(bench, cause)()
    assert bench.gate.idle and not len(bench.run(100))
    assert bench.state is (State.DISABLED if cause == 'disable' else State.FAULT)


def test_a_missing_state_after_enable_is_a_fault():
    """Found by time, without any release."""
    bench = Bench(**QUICK)
    bench.enable()
    assert not len(bench.run(27, tick=True))
    assert bench.state is State.FAULT and bench.gate.idle and bench.exit() == ()


@pytest.mark.parametrize('way', ['ramping out', 'fault'])
def test_enable_during_a_ramp_out_continues_from_the_last_release(way):
    """For any measured effort: the drive has the last message."""
    bench = in_phase('enabled')
    bench.disable() if way == 'ramping out' else bench.report_fault()
    bench.run(10)
    bench.effort = -EFFORT
    last = bench.releases[-1].effort
    bench.enable()
    assert bench.state is State.RAMPING_IN
    assert bench.step().effort == pytest.approx(last + (WANTED - last) / 20)


def test_enable_is_refused_while_the_cause_of_a_fault_lasts():
    """A refusal does not stop the decay."""
    bench = in_phase('enabled')
    bench.other_publisher = True
    bench.step()
    for _ in range(20):
        bench.refuses('other publisher')
        bench.step()
    assert bench.gate.status().refused == {'other publisher': 1, 'enable: other publisher': 20}
    assert np.array_equal(bench.comes_to_rest(), GRAVITY)


def test_a_second_publisher_that_leaves_does_not_enable():
    """Its going enables nothing."""
    bench = in_phase('enabled')
    bench.other_publisher = True
    bench.step()
    bench.other_publisher = False
    bench.comes_to_rest()
    assert not len(bench.run(50)) and bench.state is State.FAULT
    assert 'another publisher' in bench.gate.status().reason


def test_the_gravity_torque_decays_after_a_state_lost_during_a_ramp_to_gravity():
    """The reason stays the first; the second is counted."""
    bench = in_phase('enabled')
    bench.report_fault('exception in a handler')
    bench.run(10)
    bench.q = np.full(3, np.nan)
    assert np.array_equal(bench.comes_to_rest(), ZERO)
    status = bench.gate.status()
    assert status.reason == 'exception in a handler'
    assert status.refused == {'from outside': 1, 'state not finite': 1}


def test_states_that_stop_during_a_ramp_to_gravity_are_found_by_time():
    """There too."""
    bench = in_phase('enabled')
    bench.report_fault()
    bench.run(10)
    bench.run(27, tick=True)
    assert np.array_equal(bench.comes_to_rest(tick=True), ZERO)


def test_a_state_that_returns_does_not_restore_the_ramp_to_gravity():
    """Once lost, the ramp ends in zero."""
    bench = in_phase('enabled')
    bench.delay = -0.1
    bench.step()
    bench.delay = 0.0
    assert np.array_equal(bench.comes_to_rest(), ZERO)


def test_disable_during_a_fault_leaves_it_a_fault():
    """Only enable ends it."""
    bench = in_phase('enabled')
    bench.report_fault()
    bench.disable()
    assert bench.state is State.FAULT
    bench.comes_to_rest()
    bench.disable()
    assert bench.state is State.FAULT


def test_rapid_enables_and_disables_meet_the_contract():
    """In any order; in the end it is enabled or silent."""
    rng = np.random.default_rng(5)
    bench = Bench(**QUICK)
    for _ in range(400):
        bench.enable() if rng.random() < 0.5 else bench.disable()
        bench.run(rng.integers(0, 6))
    bench.enable()
    bench.enable()
    bench.run(100)
    assert bench.state is State.ENABLED
    bench.disable()
    assert np.array_equal(bench.comes_to_rest(), GRAVITY)


def test_enabling_again_does_not_begin_the_ramp_again():
    """Nor is it refused, for any arguments."""
    bench = Bench(**QUICK)
    bench.enable()
    for _ in range(20):
        bench.enable()
        bench.step()
    assert bench.state is State.ENABLED
    bench.gate.enable(bench.now, None)


def test_unknown_limits_are_refused_by_name():
    """The default; nothing is released."""
    unknown = limits_of(robot(efforts=np.array([40.0, np.nan, np.nan])))
    bench = Bench(gate_limits_of(unknown))
    text = bench.refuses('limits unknown')
    assert 'elbow, slide' in text and 'shoulder' not in text
    assert not len(bench.run(50)) and bench.state is State.DISABLED


def test_unknown_limits_can_be_assumed():
    """Then they are limits as all others: for effort, slew and exit."""
    unknown = limits_of(robot(efforts=np.array([40.0, np.nan, np.nan])))
    settings = {'unknown_effort': 'assume', 'assumed_effort': 7.0, **QUICK}
    bench = Bench(gate_limits_of(unknown, SafetySettings(**settings)), np.array([40.0, 7.0, 7.0]),
                  **settings)
    bench.torque = np.array([30.0, -30.0, 30.0])
    bench.up()
    assert np.array_equal(bench.releases[-1].effort, [30.0, -7.0, 7.0])
    bench.exit()
    assert np.array_equal(bench.releases[-1].effort, [12.0, -4.0, 7.0])


def test_enable_without_model_state_or_joints_is_refused():
    """With the reason."""
    bench = Bench()
    bench.gate = Gate()
    bench.refuses('no model')
    bench.gate.change_limits(gate_limits_of(limits_of(robot(), joints=[])))
    bench.refuses('no model')
    bench.gate.change_limits(gate_limits())
    with pytest.raises(ValueError, match='no joint state has been measured'):
        bench.gate.enable(bench.now, None)
    assert bench.gate.status().refused == {'enable: no model': 2, 'enable: no state': 1}


def test_a_new_model_lets_the_torque_of_the_old_one_decay():
    """Under its names and limits; then the new one can be enabled, not before."""
    bench = in_phase('enabled')
    small = limits_of(robot(efforts=EFFORT / 10))
    bench.change_limits(gate_limits_of(small, bench.settings))
    assert bench.state is State.FAULT
    bench.step()
    bench.refuses('decaying')
    assert np.array_equal(bench.comes_to_rest(tick=True), ZERO)
    bench.contract.effort, bench.contract.slew = EFFORT / 10, EFFORT / 10 / bench.settings.slew_time
    bench.up()
    assert np.array_equal(bench.releases[-1].effort, np.clip(WANTED, -EFFORT / 10, EFFORT / 10))


def test_a_ramp_to_zero_needs_no_proposal():
    """Without a model there is none."""
    bench = in_phase('enabled')
    bench.change_limits(None)
    while not bench.gate.idle:
        bench.now += PERIOD
        last = bench.gate.step(bench.now, None)
    assert np.array_equal(last.effort, ZERO)


def test_the_last_of_two_new_models_counts():
    """Also where it is none."""
    bench = in_phase('enabled')
    bench.change_limits(gate_limits())
    bench.change_limits(None)
    bench.comes_to_rest(tick=True)
    bench.refuses('no model')


def test_a_new_model_without_a_release_is_no_fault():
    """It is used at once."""
    bench = Bench(**QUICK)
    bench.change_limits(gate_limits(**QUICK))
    assert bench.state is State.DISABLED
    bench.enable()
    bench.change_limits(gate_limits(**QUICK))
    assert bench.gate.idle and bench.state is State.FAULT
    bench.up()
