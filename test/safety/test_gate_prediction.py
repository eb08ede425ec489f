"""Test the gate without joint states of a moving arm: torques at the states that are predicted."""

import numpy as np
import pytest
from support.gate_bench import GRAVITY, PERIOD, WANTED, in_phase, steps
from support.safe_arm import HOME, VELOCITY

from dynamics_node.safety import Measured, Proposal, State
from dynamics_node.safety.settings import SAFE_ACTIONS

ZERO = np.zeros(3)
AHEAD = WANTED + np.array([1.0, -0.5, 2.0])      # wanted at the predicted state
LATER = GRAVITY + np.array([2.0, 1.0, -3.0])     # gravity at the predicted state
BRAKING = np.array([-3.0, 2.0, -8.0])
MOVING = np.array([0.3, 0.0, 0.1]) * VELOCITY


def moving(phase='enabled', **settings):
    """Return a Bench whose joints move, and whose states can be predicted; `asked` is recorded."""
    bench = in_phase(phase, **settings)
    bench.v, bench.asked, bench.predicted_v = MOVING.copy(), [], MOVING.copy()

    def predict(last_valid):
        bench.asked.append(last_valid)
        return Proposal(BRAKING if last_valid.braking else AHEAD, LATER,
                        Measured(np.nan, HOME, bench.predicted_v), bench.reference_age)
    bench.predict = predict
    bench.run(2)
    return bench


def silent(bench, seconds):
    """Let time pass without a joint state; return what was released."""
    return bench.run(round(seconds / PERIOD), tick=True)


def test_the_torque_at_the_predicted_state_is_released_as_soon_as_a_state_is_overdue():
    bench = moving()
    assert not len(silent(bench, 2 * PERIOD))
    released = silent(bench, 0.13)
    assert bench.state is State.ENABLED and np.array_equal(released[-1], AHEAD)
    assert bench.gate.status().bridged == 1 and not bench.gate.status().refused
    bench.step()
    assert bench.state is State.ENABLED, 'no ramp back: the wanted torque was released'


def test_the_prediction_starts_at_the_last_valid_state():
    bench = moving()
    bench.delay = 0.001
    bench.step()
    silent(bench, 0.02)
    first, last = bench.asked[0], bench.asked[-1]
    assert first.position == last.position == HOME.tolist() and last.v == MOVING.tolist()
    assert last.seconds == pytest.approx(0.001 + round(0.02 / PERIOD) * PERIOD)
    assert last.torque == bench.releases[-2].numbers and not last.braking


def test_nothing_is_predicted_at_rest():
    bench = moving()
    bench.v = ZERO
    bench.step()
    silent(bench, 0.06)
    assert not bench.asked and bench.state is State.ENABLED


def test_nothing_is_predicted_while_states_come():
    """At whatever rate, as long as it is constant."""
    bench = moving()
    for _ in range(20):
        bench.step(after=0.03)
        bench.tick(after=0.01)
    bench.asked.clear()
    for _ in range(20):
        bench.step(after=0.03)
        bench.tick(after=0.01)
    assert not bench.asked


@pytest.mark.parametrize('action', SAFE_ACTIONS)
def test_a_longer_silence_is_a_fault_that_brakes_by_the_predicted_state(action):
    bench = moving(prediction_time=0.05, brake_time=0.3, safe_action=action)
    silent(bench, 0.098)
    assert bench.state is State.ENABLED
    silent(bench, 0.004)
    assert bench.state is State.FAULT and 'old' in bench.gate.status().reason
    assert not bench.gate.braking, 'a proposal at a measured state is not needed'
    assert silent(bench, 0.15)[-1] == pytest.approx(BRAKING)
    assert bench.asked[-1].braking
    bench.predicted_v = ZERO
    bench.run(steps(0.1 + bench.settings.hold_time), tick=True)
    bench.asked.clear()
    safe = LATER if action == 'gravity' else ZERO
    released = bench.run(steps(0.1), tick=True)
    assert not bench.asked, 'the joints rest'
    assert np.abs(released - safe).sum(axis=1).min() < 0.2 * np.abs(LATER).sum()
    assert np.array_equal(bench.comes_to_rest(tick=True), ZERO)


@pytest.mark.parametrize('spoil', [{'q': np.full(3, np.nan)}, {'v': np.zeros(2)},
                                   {'q': HOME + np.array([0.5, 0.0, 0.0])}])
def test_a_state_that_becomes_invalid_brakes_by_the_predicted_one(spoil):
    """The invalid ones are ignored, and so are later ones."""
    bench = moving(brake_time=0.3)
    for name, value in spoil.items():
        setattr(bench, name, value)
    bench.run(30)
    assert bench.state is State.FAULT and bench.asked[-1].braking
    assert bench.asked[-1].position == HOME.tolist()
    bench.q, bench.v = HOME.copy(), MOVING.copy()
    assert bench.run(30)[-1] == pytest.approx(BRAKING)


def test_a_state_lost_while_braking_is_predicted():
    bench = moving(brake_time=1.0)
    bench.disable()
    bench.torque = BRAKING
    bench.run(5)
    assert silent(bench, 0.3)[-1] == pytest.approx(BRAKING)
    assert bench.state is State.FAULT and bench.asked[-1].braking


@pytest.mark.parametrize('wrong', [
    lambda last: None,
    lambda last: Proposal(np.full(3, np.nan), LATER, Measured(0.0, HOME, ZERO)),
    lambda last: Proposal(None, LATER, Measured(0.0, HOME, ZERO)),
    lambda last: Proposal(AHEAD, np.full(3, np.inf), Measured(0.0, HOME, ZERO)),
    lambda last: Proposal(AHEAD, LATER, Measured(0.0, np.full(3, np.nan), ZERO)),
    lambda last: Proposal(AHEAD, LATER, Measured(0.0, HOME, np.zeros(2)))])
def test_without_a_valid_prediction_the_torque_goes_to_gravity(wrong):
    """That of the last valid state."""
    bench = moving()
    bench.predict = wrong
    assert silent(bench, 0.14)[-1] == pytest.approx(GRAVITY)
    silent(bench, 0.02)
    assert bench.state is State.FAULT
    assert np.array_equal(bench.comes_to_rest(tick=True), ZERO)


def test_a_clock_that_was_set_brakes_by_the_joint_states():
    """Their stamps are of the same clock."""
    bench = moving(brake_time=1.0)
    bench.now -= 3600.0
    bench.step()
    assert bench.state is State.FAULT and bench.gate.braking
    bench.torque = BRAKING
    assert bench.run(60)[-1] == pytest.approx(BRAKING)
    bench.v = ZERO
    assert np.array_equal(bench.comes_to_rest(), GRAVITY) and not bench.asked
