"""Test the gate on random sequences of calls with bad inputs: every release meets the contract."""

import os

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support.gate_bench import PERIOD, QUICK, Bench, longest_end
from support.safe_arm import EFFORT, HOME, LIMITS, LOWER, UPPER, VELOCITY

from dynamics_node.safety import (
    Measured,
    Proposal,
    Refused,
    SafetySettings,
    State,
    gate_limits_of,
)
from dynamics_node.safety.settings import SAFE_ACTIONS, UNKNOWN_STARTS

# DYNAMICS_NODE_EXAMPLES=2000 looks for longer
EXAMPLES = int(os.environ.get('DYNAMICS_NODE_EXAMPLES', '120'))
STRANGE = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-310, -0.0, 1e9, 2e9]
MALFORMED = [None, 1.0, 'abc', np.zeros(2), np.zeros(4), np.zeros((1, 3)), [[1.0], [1.0, 2.0]]]
NEAR_LIMITS = [(0, UPPER[0] - 0.05), (0, UPPER[0]), (0, UPPER[0] + 0.04), (0, LOWER[0] + 0.05),
               (2, UPPER[2]), (2, LOWER[2] - 0.04), (2, LOWER[2] + 0.01)]


def vectors(scale):
    """Numbers of the size of the limits, and beyond."""
    return st.lists(st.floats(-1.3, 1.3), min_size=3, max_size=3).map(
        lambda shares: np.array(shares) * scale)


def spoilt(scale):
    """One entry strange, or the whole of it malformed."""
    def put(vector, k, value):
        vector[k] = value
        return vector
    return st.one_of(st.builds(put, vectors(scale), st.integers(0, 2), st.sampled_from(STRANGE)),
                     st.sampled_from(MALFORMED))


class AnyOrder(RuleBasedStateMachine):
    """Random calls; the bench checks each of them."""

    @initialize(action=st.sampled_from(SAFE_ACTIONS), slew_time=st.sampled_from([0.01, 0.05, 0.4]),
                ramp_in=st.sampled_from([0.0, 0.02, 0.1]), hold=st.sampled_from([0.0, 0.02]),
                ramp_out=st.sampled_from([0.0, 0.05, 0.3]), start=st.sampled_from([0.0, 1.7e9]),
                unknown=st.sampled_from(UNKNOWN_STARTS), bridge=st.sampled_from([0.0, 0.05, 0.4]),
                brake=st.sampled_from([0.0, 0.05, 1.0]), blind=st.sampled_from([0.0, 0.05, 0.5]),
                prediction=st.sampled_from([0.0, 0.1]))
    def build(self, action, slew_time, ramp_in, hold, ramp_out, start, unknown, bridge, brake,
              blind, prediction):
        self.bench = Bench(safe_action=action, slew_time=slew_time, ramp_in_time=ramp_in,
                           hold_time=hold, ramp_out_time=ramp_out, unknown_start=unknown,
                           bridge_time=bridge, brake_time=brake, blind_gravity_time=blind,
                           prediction_time=prediction)
        self.bench.now = start

    def be_active(self):
        """Enable first, so that there is a torque to disturb."""
        if self.bench.gate.idle:
            self.work(12)

    def go_on(self, count, tick, after=PERIOD):
        for _ in range(count):
            self.bench.tick(after) if tick else self.bench.step(after)

    @rule(effort=st.one_of(st.none(), vectors(EFFORT), spoilt(EFFORT)))
    def enable(self, effort):
        self.bench.effort = effort
        try:
            self.bench.enable()
        except Refused as refusal:
            assert str(refusal)

    @rule(count=st.integers(0, 30), tick=st.booleans())
    def disable(self, count, tick):
        self.be_active()
        self.bench.disable()
        self.go_on(count, tick)

    @rule(count=st.integers(1, 40), tick=st.booleans())
    def run(self, count, tick):
        self.go_on(count, tick)

    @rule(count=st.integers(1, 10), tick=st.booleans(), after=st.sampled_from([0.0, 0.01, 0.049]))
    def run_slowly(self, count, tick, after):
        self.go_on(count, tick, after)

    @rule(torque=vectors(EFFORT), gravity=vectors(EFFORT), count=st.integers(1, 10))
    def want(self, torque, gravity, count):
        self.be_active()
        self.bench.torque, self.bench.gravity = torque, gravity
        self.go_on(count, False)

    @rule(joint=st.integers(0, 2), speed=st.floats(-1.15, 1.15), count=st.integers(1, 30))
    def move(self, joint, speed, count):
        """Move as a robot does: the position follows the velocity."""
        self.be_active()
        bench = self.bench
        bench.v = np.zeros(3)
        bench.v[joint] = speed * VELOCITY[joint]
        for _ in range(count):
            bench.q = bench.q + PERIOD * bench.v
            bench.step()

    @rule(place=st.sampled_from(NEAR_LIMITS), count=st.integers(1, 10))
    def go_near_a_limit(self, place, count):
        """A jump if it is far from there."""
        self.be_active()
        joint, position = place
        self.bench.q, self.bench.v = HOME.copy(), np.zeros(3)
        self.bench.q[joint] = position
        self.go_on(count, False)

    @rule(name=st.sampled_from(['torque', 'gravity', 'q', 'v']), tick=st.booleans(),
          data=st.data(), count=st.integers(1, 5))
    def spoil(self, name, tick, data, count):
        self.be_active()
        bench = self.bench
        good = getattr(bench, name)
        setattr(bench, name, data.draw(spoilt(EFFORT if name in ('torque', 'gravity') else 3.0)))
        self.go_on(count, tick)
        setattr(bench, name, good)

    @rule(delay=st.sampled_from([-0.06, -0.04, 0.0, 0.02, 0.04, 0.06, 1.0, np.nan]),
          count=st.integers(1, 5))
    def delay_states(self, delay, count):
        self.be_active()
        self.bench.delay = delay
        self.go_on(count, False)
        self.bench.delay = 0.0

    @rule(age=st.sampled_from([None, 0.1, 0.6, -0.6, np.nan]))
    def age_reference(self, age):
        self.be_active()
        self.bench.reference_age = age
        self.go_on(1, False)

    @rule(there=st.booleans())
    def other_publisher(self, there):
        self.be_active()
        self.bench.other_publisher = there
        self.go_on(1, False)

    @rule(jump=st.sampled_from([-1e-6, -0.03, -0.3, -1e4, 0.19, 0.21, 1e4]), tick=st.booleans())
    def jump_clock(self, jump, tick):
        self.be_active()
        self.go_on(1, tick, jump)

    @rule(now=st.sampled_from([np.nan, np.inf]), tick=st.booleans())
    def lose_clock(self, now, tick):
        self.be_active()
        bench = self.bench
        before, bench.now = bench.now, now
        self.go_on(1, tick, 0.0)
        bench.now = before

    @rule(count=st.integers(0, 10), stale=st.booleans())
    def report_fault(self, count, stale):
        """On the way to gravity, with or without further states."""
        self.be_active()
        self.bench.report_fault()
        self.go_on(count, False)
        self.bench.delay = 1.0 if stale else 0.0
        self.go_on(count, False)
        self.bench.delay = 0.0

    @rule(torque=st.one_of(vectors(EFFORT), spoilt(EFFORT)), gravity=st.one_of(
        vectors(EFFORT), spoilt(EFFORT)), speed=st.floats(-1.3, 1.3), count=st.integers(1, 30),
          known=st.booleans())
    def lose_states(self, torque, gravity, speed, count, known):
        """Move, then lose the joint states; the model predicts others, or cannot."""
        self.be_active()
        bench = self.bench
        bench.v = np.array([0.0, 0.0, 0.5]) * VELOCITY
        bench.step()
        bench.predict = lambda last_valid: Proposal(
            torque, gravity, Measured(np.nan, bench.q, speed * VELOCITY)) if known else None
        self.go_on(count, True, 0.01)

    @rule()
    def change_settings(self):
        """To equal numbers, so that the contract stays the same."""
        self.be_active()
        self.bench.change_limits(gate_limits_of(LIMITS, self.bench.settings))

    @rule()
    def heal(self):
        bench, fresh = self.bench, Bench(**QUICK)
        for name in ('q', 'v', 'torque', 'gravity', 'reference_age', 'other_publisher', 'delay'):
            setattr(bench, name, getattr(fresh, name))

    @rule(count=st.integers(0, 60))
    def work(self, count):
        self.heal()
        self.enable(None)
        self.go_on(count, False)

    @rule(name=st.sampled_from(['torque', 'gravity', 'q', 'v', 'effort']), data=st.data())
    def enable_spoilt(self, name, data):
        bench = self.bench
        good = getattr(bench, name)
        setattr(bench, name, data.draw(spoilt(EFFORT)))
        self.enable(bench.effort)
        self.go_on(1, False)
        setattr(bench, name, good)

    @rule()
    def come_to_rest(self):
        """Disable, which ends the releases in bounded time, with or without states."""
        self.be_active()
        bench = self.bench
        if bench.state is not State.FAULT:
            bench.disable()
        self.go_on(int(longest_end(bench.settings) / 0.01) + 4, True, 0.01)
        assert bench.gate.idle

    @rule()
    def exit(self):
        self.be_active()
        self.bench.exit()

    @invariant()
    def says_what_it_is(self):
        if hasattr(self, 'bench'):
            status = self.bench.gate.status()
            assert (status.reason != '') == (status.state is State.FAULT)
            assert status.idle or self.bench.contract.open
            assert status.released == len(self.bench.releases)


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=EXAMPLES, stateful_step_count=40, deadline=None,
                                 database=None, derandomize=EXAMPLES == 120)


def test_the_settings_of_the_machine_are_valid():
    """And those of the bench."""
    SafetySettings(**QUICK)
