"""Check the contract at the top of gate.py from outside, on every call.

It has the limits and settings as plain numbers, keeps its own record of time and releases, and
asks the gate only whether it is idle and in which state.
"""

import numpy as np

from dynamics_node.safety import State
from support.safe_arm import EFFORT, NAMES, VELOCITY

ROUNDING = 1e-9
LONGEST_EXIT = 1.0  # [s]


class Contract:
    """Past releases, and the limits of the next one."""

    def __init__(self, settings, effort=EFFORT, slew=None, names=NAMES):
        self.settings, self.effort, self.names = settings, effort, names
        self.slew = effort / settings.slew_time if slew is None else slew
        self.last = None       # released last, or what enable started from
        self.heard = False     # whether anything was released since enable
        self.open = False      # between a successful enable and the safe torque
        self.now, self.passed = None, 0.0
        self.valid_gravity = np.zeros(len(effort))   # of the last valid state, within the limits
        self.silence = np.inf                        # [s] since then
        self.moving = False                          # whether joints moved then
        self.blind = False     # whether a fault since enable has made the state invalid

    def passes(self, now):
        """Advance the time; what a jump of the clock skips has not passed."""
        step = 0.0 if self.now is None else now - self.now
        if 0.0 <= step <= self.settings.max_clock_step:
            self.passed += step
            self.silence += step
        self.now = now if np.isfinite(now) else None

    def enabled(self, proposal):
        """Record an accepted call of enable."""
        measured_effort, gravity = proposal.measured.effort, proposal.gravity
        self.blind = False
        self.validated(proposal)
        if not self.open:
            self.open, self.heard, self.passed = True, False, 0.0
            effort = gravity if self.settings.unknown_start == 'gravity' else 0.0 * self.effort
            if self.has_entries(measured_effort):
                effort = np.where(np.isfinite(measured_effort), measured_effort, effort)
            self.last = np.clip(effort, -self.effort, self.effort)

    def validated(self, proposal):
        """Record a valid state and its gravity torque."""
        if self.is_vector(proposal.gravity):
            self.valid_gravity = np.clip(proposal.gravity, -self.effort, self.effort)
            self.silence = self.now - proposal.measured.stamp
            self.moving = bool((np.abs(proposal.measured.v) > 0.01 * VELOCITY).any())

    def predicted(self, proposal):
        """Record the gravity torque of a predicted state, if the gate may use it."""
        measured = proposal.measured
        if all(map(self.is_vector, (proposal.gravity, proposal.torque, measured.q, measured.v))):
            self.valid_gravity = np.clip(proposal.gravity, -self.effort, self.effort)

    @property
    def recent(self):
        """Whether the silence since the last valid state can be bridged."""
        settings = self.settings
        return self.silence <= settings.max_state_age + (
            settings.prediction_time if self.moving else settings.bridge_time)

    def released(self, release, passed=None):
        """Check 1, 2 and 4 of a release."""
        assert self.open, '4: released without enable'
        tau, passed = release.effort, self.passed if passed is None else passed
        assert tau.shape == (len(self.names),) and release.names == tuple(self.names), '1: size'
        assert tau.dtype == float and np.isfinite(tau).all(), '1: not finite'
        assert (np.abs(tau) <= self.effort).all(), '1: beyond the effort limit'
        reach = self.slew * passed * (1.0 + ROUNDING) + ROUNDING
        assert (np.abs(tau - self.last) <= reach).all(), '2: beyond the slew limit'
        self.before, self.last, self.passed, self.heard = self.last, tau.copy(), 0.0, True

    def is_fresh(self, now, proposal):
        """Whether something may be computed from this state."""
        measured = proposal.measured
        return (abs(now - measured.stamp) <= self.settings.max_state_age
                and self.is_vector(measured.q) and self.is_vector(measured.v))

    def is_vector(self, x):
        return self.has_entries(x) and bool(np.isfinite(x).all())

    def has_entries(self, x):
        return isinstance(x, np.ndarray) and x.shape == (len(self.names),)

    def followed_from_the_past(self):
        """Check 3 without a fresh state: between the one before, the last gravity and zero."""
        known = np.array([self.before, self.valid_gravity, 0.0 * self.before])
        assert (known.min(axis=0) <= self.last).all(), '3: computed from what?'
        assert (self.last <= known.max(axis=0)).all(), '3: computed from what?'

    def came_to_rest(self, gravity, after_fault):
        """Check 5: the last release is the safe one.

        :param gravity: that of a fresh state, None without one.
        :param after_fault: it may be one that cost the state.
        """
        if self.heard:
            zero = np.zeros(len(self.effort))
            safe = [zero]
            if self.settings.safe_action == 'gravity' and self.is_vector(gravity):
                held = np.clip(gravity, -self.effort, self.effort)
                safe = [held, zero] if after_fault else [held]
            assert any((self.last == torque).all() for torque in safe), '5: not safe'
        self.open = False

    def exited(self, releases, gravity, after_fault):
        """Check the releases of an exit."""
        if not self.heard or not self.open:
            assert releases == (), '4: an exit without a torque releases nothing'
        else:
            period = self.settings.exit_period
            assert releases and (len(releases) - 1) * period < LONGEST_EXIT
            for k, release in enumerate(releases):
                self.released(release, period if k else 0.0)
        self.came_to_rest(gravity, after_fault)

    def legal(self, before, after, call):
        """Check 4 of a change of state."""
        if before is not after:
            allowed = {
                'enable': {(s, State.RAMPING_IN) for s in
                           (State.DISABLED, State.FAULT, State.BRAKING, State.RAMPING_OUT)},
                'disable': {(s, e) for s in (State.RAMPING_IN, State.ENABLED)
                            for e in (State.BRAKING, State.RAMPING_OUT, State.DISABLED,
                                      State.FAULT)}}
            active = (State.RAMPING_IN, State.ENABLED, State.BRAKING, State.RAMPING_OUT)
            other = {(State.RAMPING_IN, State.ENABLED), (State.ENABLED, State.RAMPING_IN),
                     (State.BRAKING, State.RAMPING_OUT), (State.BRAKING, State.DISABLED),
                     (State.RAMPING_OUT, State.DISABLED), *((s, State.FAULT) for s in active)}
            if call == 'shutdown_sequence':
                other = {(s, State.DISABLED) for s in active}
            assert (before, after) in allowed.get(call, other), f'4: {before} {call} {after}'
