"""Test the end of torques: braking, the ramp to the safe torque, the decay; bridged silences."""

import numpy as np
import pytest
from support.gate_bench import GRAVITY, PERIOD, WANTED, in_phase, steps
from support.safe_arm import HOME, VELOCITY

from dynamics_node.safety import State
from dynamics_node.safety.settings import SAFE_ACTIONS
from dynamics_node.safety.stop import SETTLING

ZERO = np.zeros(3)
BRAKING = np.array([-3.0, 2.0, -8.0])   # torque that brakes
MOVING = np.array([0.3, 0.0, 0.1]) * VELOCITY


def moving(phase='enabled', **settings):
    """Return a Bench whose joints move; the motion is too small to be a jump."""
    bench = in_phase(phase, **settings)
    bench.v = MOVING.copy()
    bench.step()
    return bench


def brake(bench, count):
    """Step with the torque that brakes; return what was released."""
    assert bench.gate.braking
    bench.torque = BRAKING.copy()
    return bench.run(count)


@pytest.mark.parametrize('phase', ['ramping in', 'enabled'])
@pytest.mark.parametrize('action', SAFE_ACTIONS)
def test_disable_brakes_until_rest_then_ramps_to_the_safe_torque(phase, action):
    bench = moving(phase, safe_action=action, brake_time=5.0)
    bench.disable()
    assert bench.state is State.BRAKING
    assert brake(bench, 40)[-1] == pytest.approx(BRAKING), 'reached at the slew limit'
    bench.v = 0.009 * VELOCITY   # below a hundredth of the limit
    bench.run(steps(SETTLING) - 2)
    assert bench.state is State.BRAKING
    bench.run(2)
    assert bench.state is State.RAMPING_OUT and not bench.gate.braking
    assert np.array_equal(bench.comes_to_rest(), GRAVITY if action == 'gravity' else ZERO)
    assert bench.state is State.DISABLED


def test_the_slew_limit_of_one_joint_slows_all_while_braking():
    """So that accelerations stay between those of the two torques."""
    bench = moving(brake_time=5.0, slew_time=0.4)
    start = bench.releases[-1].effort
    bench.disable()
    way = brake(bench, 10) - start
    share = way[:, 2] / (BRAKING - start)[2]
    assert 0.0 < share[-1] < 1.0
    assert way == pytest.approx(share[:, None] * (BRAKING - start))
    assert bench.releases[-1].limited == (('slew', 'shoulder'),)   # the furthest to go


def test_braking_ends_after_brake_time():
    bench = moving()
    bench.disable()
    brake(bench, 19)
    assert bench.state is State.BRAKING
    bench.run(2)
    assert bench.state is State.RAMPING_OUT
    assert np.array_equal(bench.comes_to_rest(), GRAVITY), 'the joints still move'


def test_joints_at_rest_are_not_braked():
    bench = in_phase('enabled')
    bench.disable()
    assert bench.state is State.RAMPING_OUT and not bench.gate.braking


def test_brake_time_zero_switches_braking_off():
    bench = moving(brake_time=0.0)
    bench.disable()
    assert bench.state is State.RAMPING_OUT


@pytest.mark.parametrize('action', SAFE_ACTIONS)
def test_a_fault_with_a_valid_state_brakes(action):
    bench = moving(safe_action=action)
    bench.report_fault()
    assert bench.state is State.FAULT and bench.gate.braking
    brake(bench, 15)
    bench.v = ZERO
    assert np.array_equal(bench.comes_to_rest(), GRAVITY if action == 'gravity' else ZERO)
    assert bench.state is State.FAULT


def test_a_joint_that_is_too_fast_is_braked():
    bench = in_phase('enabled')
    bench.v, last = 1.21 * VELOCITY, bench.releases[-1].effort
    bench.torque = -WANTED   # of the law, which no longer counts
    first = bench.step().effort
    assert (first == np.clip(first, np.minimum(last, GRAVITY), np.maximum(last, GRAVITY))).all()
    assert bench.state is State.FAULT and bench.gate.braking


def test_a_second_publisher_brakes():
    """It may not publish anything yet."""
    bench = moving()
    bench.other_publisher = True
    bench.step()
    assert bench.state is State.FAULT and bench.gate.braking


@pytest.mark.parametrize('wrong', [np.full(3, np.nan), np.zeros(2), None])
def test_a_braking_torque_that_is_invalid_ends_the_braking(wrong):
    """The ramp to the safe torque begins; the reason of a fault stays."""
    bench = moving()
    bench.report_fault('the law failed')
    brake(bench, 5)
    bench.torque = wrong
    bench.step()
    assert not bench.gate.braking and bench.gate.status().reason == 'the law failed'
    assert np.array_equal(bench.comes_to_rest(), GRAVITY)


@pytest.mark.parametrize('cause', ['disable', 'report_fault'])
def test_a_state_lost_while_braking_ends_in_the_last_gravity_torque(cause):
    """Which then decays; braking without a state would be blind."""
    bench = moving()
    getattr(bench, cause)()
    brake(bench, 5)
    bench.run(27, tick=True)
    assert bench.state is State.FAULT and not bench.gate.braking
    bench.run(steps(bench.settings.ramp_out_time + bench.settings.slew_time) - 27, tick=True)
    assert np.abs(bench.efforts - GRAVITY).sum(axis=1).min() < 0.1 * np.abs(GRAVITY).sum()
    assert np.array_equal(bench.comes_to_rest(tick=True), ZERO)


def test_enable_while_braking_continues_from_the_last_release():
    bench = moving()
    bench.disable()
    last = brake(bench, 10)[-1]
    bench.torque = WANTED.copy()
    bench.enable()
    assert bench.state is State.RAMPING_IN
    assert bench.step().effort == pytest.approx(last + (WANTED - last) / 20)


def test_the_exit_while_braking_ends_in_gravity():
    bench = moving()
    bench.disable()
    brake(bench, 5)
    assert np.array_equal(bench.exit()[-1].effort, GRAVITY)


def test_a_blind_gravity_torque_is_reached_and_decays_linearly():
    bench = in_phase('enabled')
    bench.q = np.full(3, np.nan)
    bench.step()
    ramp, decay = 25, 15   # periods, see QUICK
    bench.run(ramp - 1)
    assert bench.step().effort == pytest.approx(GRAVITY)
    released = bench.run(decay)
    assert released == pytest.approx((1.0 - np.arange(1, decay + 1) / decay)[:, None] * GRAVITY,
                                     abs=1e-9)
    assert bench.gate.idle


# Silence of the joint states ----------------------------------------------------------------------

def silent(bench, seconds):
    """Let time pass without a joint state; return what was released."""
    return bench.run(round(seconds / PERIOD), tick=True)


def test_a_short_silence_is_no_fault():
    """Nothing is released up to max_state_age, then the torque goes to gravity, then back."""
    bench = in_phase('enabled', bridge_time=0.4)
    assert not len(silent(bench, 0.049))
    bridged = silent(bench, 0.05)
    assert len(bridged) and bench.state is State.ENABLED
    way = [np.abs(each - GRAVITY).sum() for each in bridged]
    assert way == sorted(way, reverse=True) and way[-1] == 0.0
    back = bench.run(1)
    assert bench.state is State.RAMPING_IN
    assert np.abs(back[0] - GRAVITY).sum() < 0.1 * np.abs(WANTED - GRAVITY).sum()
    bench.run(steps(0.05))
    assert bench.state is State.ENABLED and np.array_equal(bench.releases[-1].effort, WANTED)
    status = bench.gate.status()
    assert status.bridged == 1 and not status.refused


def test_a_silence_longer_than_bridge_time_is_a_fault():
    bench = in_phase('enabled', bridge_time=0.1, blind_gravity_time=1.0)
    silent(bench, 0.148)
    assert bench.state is State.ENABLED
    silent(bench, 0.004)
    assert bench.state is State.FAULT and 'old' in bench.gate.status().reason
    held = silent(bench, 0.04)
    assert held == pytest.approx(np.tile(GRAVITY, (len(held), 1))), 'the arm does not drop'
    bench.run(steps(2.0), tick=True)
    assert bench.gate.idle and np.array_equal(bench.releases[-1].effort, ZERO)


def test_a_silence_during_the_ramp_in_leaves_the_ramp_its_time():
    bench = in_phase('ramping in', ramp_in_time=100 * PERIOD, bridge_time=0.4)   # 10 are over
    silent(bench, 0.05 + 20 * PERIOD)
    bench.run(60)
    assert bench.state is State.RAMPING_IN
    bench.run(70)
    assert bench.state is State.ENABLED


def test_a_joint_that_moved_during_a_silence_is_no_jump():
    """As far as its velocity limit allows."""
    bench = in_phase('enabled', bridge_time=0.4)
    silent(bench, 0.2)
    bench.q = HOME + 0.19 * VELOCITY
    bench.step()
    assert bench.state is State.RAMPING_IN
    silent(bench, 0.2)
    bench.q = HOME + 0.19 * VELOCITY + 0.35 * VELOCITY
    bench.step()
    assert bench.state is State.FAULT


def test_bridge_time_zero_makes_every_silence_a_fault():
    bench = in_phase('enabled', bridge_time=0.0)
    silent(bench, 0.054)
    assert bench.state is State.FAULT


def test_a_disable_during_a_silence_ends_torques():
    """The state is too old to brake with."""
    bench = moving('enabled', bridge_time=0.4)
    silent(bench, 0.1)
    bench.disable()
    assert np.array_equal(bench.comes_to_rest(tick=True), ZERO)
    assert bench.state is State.FAULT


def test_the_exit_during_a_silence_ends_in_the_last_gravity_torque():
    bench = in_phase('enabled', bridge_time=0.4)
    silent(bench, 0.2)
    assert np.array_equal(bench.exit()[-1].effort, GRAVITY)
