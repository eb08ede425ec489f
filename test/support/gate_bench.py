"""Run a gate with inputs that can be made invalid; check every release against the contract."""

import math

import numpy as np
import pytest

from dynamics_node.safety import Gate, Measured, Proposal, Refused, SafetySettings, State
from dynamics_node.safety.faults import STATE_IS_TRUSTED
from support.gate_contract import Contract
from support.safe_arm import HOME, NAMES, gate_limits

PERIOD = 2.0 ** -9   # [s] of joint states; sums of it are exact
# A gate that is soon through with everything
QUICK = {'ramp_in_time': 20 * PERIOD, 'ramp_out_time': 25 * PERIOD, 'slew_time': 25 * PERIOD,
         'hold_time': 10 * PERIOD, 'bridge_time': 12 * PERIOD, 'brake_time': 20 * PERIOD,
         'blind_gravity_time': 15 * PERIOD}
GRAVITY = np.array([12.0, -4.0, 30.0])
WANTED = np.array([15.0, -6.0, 20.0])


def longest_end(settings):
    """Return the longest time from the beginning of a silence until nothing is released [s]."""
    return (settings.max_state_age + settings.bridge_time + settings.brake_time
            + settings.hold_time + settings.ramp_out_time + settings.blind_gravity_time
            + 2 * settings.slew_time)


def steps(duration):
    return math.ceil(duration / PERIOD) + 1


class Bench:
    """An arm, a controller and a clock around a gate; the attributes are its next inputs."""

    def __init__(self, limits=None, effort=None, **settings):
        self.settings = SafetySettings(**settings)
        self.gate = Gate(limits or gate_limits(**settings), predict=self._predict)
        self.contract = Contract(self.settings) if effort is None else Contract(
            self.settings, effort)
        self.now, self.delay = 1000.0, 0.0       # delay of the joint states [s]
        self.q, self.v = HOME.copy(), np.zeros(len(NAMES))
        self.torque, self.gravity = WANTED.copy(), GRAVITY.copy()
        self.effort = None
        self.reference_age, self.other_publisher = None, False
        self.releases, self.seen = [], None
        # What the model predicts: a function of LastValid that returns a Proposal or None.
        self.predict, self.predicted = lambda last_valid: None, []   # its valid proposals

    def _predict(self, last_valid):
        proposal = self.predict(last_valid)
        if proposal is not None:
            self.predicted.append(proposal)
        return proposal

    @property
    def state(self):
        return self.gate.state

    @property
    def efforts(self):
        """All that was released, (N, nv)."""
        return np.array([release.effort for release in self.releases])

    @property
    def proposal(self):
        return Proposal(self.torque, self.gravity,
                        Measured(self.now - self.delay, self.q, self.v, self.effort),
                        self.reference_age, self.other_publisher)

    def enable(self):
        """Enable; raises Refused."""
        before = self.state
        self.contract.passes(self.now)
        try:
            self.gate.enable(self.now, self.proposal)
        except Refused:
            assert self.state is before, 'refused, yet changed'
            raise
        self.contract.legal(before, self.state, 'enable')
        if self.state is not before:
            self.seen = self.proposal
            self.contract.enabled(self.proposal)

    def refuses(self, kind):
        """Assert that enable is refused for that reason."""
        with pytest.raises(Refused) as refusal:
            self.enable()
        assert refusal.value.kind == kind, refusal.value
        return str(refusal.value)

    def disable(self):
        self.contract.passes(self.now)
        self._ask('disable', self.now)

    def report_fault(self, text='an exception'):
        self.contract.passes(self.now)
        self._ask('report_fault', self.now, text)

    def change_limits(self, limits):
        self._ask('change_limits', limits)

    def _ask(self, call, *args):
        before, faults = self.state, self.gate.status().refused
        getattr(self.gate, call)(*args)
        self.contract.legal(before, self.state, call)
        self._note_faults(faults)
        if self.gate.idle and not self.contract.heard:
            self.contract.open = False

    def step(self, after=PERIOD):
        """Let time pass, step once, check what comes out, and return it."""
        self.now += after
        proposal = self.seen = self.proposal
        return self._check('step', lambda: self.gate.step(self.now, proposal), proposal)

    def tick(self, after=PERIOD):
        self.now += after
        return self._check('tick', lambda: self.gate.tick(self.now), None)

    def _check(self, call, release_it, proposal):
        idle, before, contract = self.gate.idle, self.state, self.contract
        contract.passes(self.now)
        faults, predictions = self.gate.status().refused, len(self.predicted)
        release = release_it()
        contract.legal(before, self.state, call)
        fresh = proposal is not None and contract.is_fresh(self.now, proposal)
        self._note_faults(faults)
        if fresh and not contract.blind:
            contract.validated(proposal)
        if len(self.predicted) > predictions:
            contract.predicted(self.predicted[-1])
        if release is not None:
            assert not idle
            contract.released(release)
            if (not fresh or contract.blind) and len(self.predicted) == predictions:
                contract.followed_from_the_past()
            if self.gate.idle:
                contract.came_to_rest(None if contract.blind else self.gravity,
                                      self.state is State.FAULT)
            self.releases.append(release)
        elif self.gate.idle and not idle:
            assert not contract.heard, '5: went to rest without the safe torque'
            contract.open = False
        return release

    def _note_faults(self, before):
        """Note whether a fault has made the state invalid since the gate had counted `before`."""
        new = self.gate.status().refused - before
        self.contract.blind |= bool(set(new) - STATE_IS_TRUSTED)

    def run(self, count, tick=False):
        """Step, or tick, so many times; return what was released, (N, nv)."""
        call, before = self.tick if tick else self.step, len(self.releases)
        for _ in range(count):
            call()
        return self.efforts[before:]

    def exit(self):
        """Return the last releases."""
        before, contract = self.state, self.contract
        contract.passes(self.now)
        recent = contract.recent
        releases = self.gate.shutdown_sequence(self.now)
        contract.legal(before, self.state, 'shutdown_sequence')
        contract.exited(releases, contract.valid_gravity if recent and not contract.blind else None,
                        before is State.FAULT)
        assert self.gate.idle and self.gate.shutdown_sequence(self.now) == ()
        self.releases += releases
        return releases

    def up(self):
        """Enable and wait until the ramp is over; return self."""
        self.enable()
        self.run(steps(self.settings.ramp_in_time + 2 * self.settings.slew_time))
        return self

    def comes_to_rest(self, tick=False):
        """Assert that the ramp out ends in time, and return its last torque."""
        self.run(steps(longest_end(self.settings)), tick)
        assert self.gate.idle
        return self.releases[-1].effort


def in_phase(phase, **settings):
    """Return a Bench in the middle of a phase, its inputs valid."""
    bench = Bench(**{**QUICK, **settings})
    bench.reference_age = 0.1
    if phase == 'ramping in':
        bench.enable()
        bench.run(10)
    else:
        bench.up()
    if phase == 'ramping out':
        bench.disable()
        bench.run(10)
    assert bench.state.value == phase
    return bench
