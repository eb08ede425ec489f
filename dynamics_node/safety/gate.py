"""Release the torques that may be published: the only producer of them.

The contract, kept by every Release without exception:

 1. It is finite, of one entry per degree of freedom, and within the effort limits.
 2. It differs from the one before by no more than the slew limits allow in the time between them;
    the first after `enable` is compared with the effort that `enable` started from.
 3. It is computed from a joint state no older than max_state_age, from the state that the model
    predicts from the last valid one for at most prediction_time and the braking after it, from the
    torque that balances gravity at one of these states, or from earlier releases.
 4. Nothing is released before `enable`, nor after a disable or a fault once the ramp to the safe
    torque is done. A fault lasts until `enable`, which is refused as long as its cause lasts.
    Nothing but `enable` enables: no restart, no end of a fault, no change of model.
 5. A disable and a fault brake moving joints to rest, at most for brake_time: by the joint state
    as long as it is valid, else by the predicted one. These and a shutdown end in the safe torque,
    exactly, and keep 1. to 4. until then.

For the safe torque see stop.py. After a fault that makes the joint state invalid (stale, jumped,
not finite, ...) no joint state is used any more.

A silence of the joint states is bridged before it is a fault. If joints move, the wanted torque at
the predicted state is released, until prediction_time after max_state_age. If they rest, the torque
that balanced gravity at the last valid joint state is released, from max_state_age on, for
bridge_time. When joint states return, the torque ramps back to the wanted one, in as much time as
was bridged.

The gate has no clock: `now` [s] comes with every call, on the clock that stamps the joint states.
It is not thread-safe.
"""

import math
from collections import Counter
from collections.abc import Sequence

from dynamics_node.checks import check_kind
from dynamics_node.safety.clock import Clock, SteadyTime
from dynamics_node.safety.faults import (
    GATE,
    MODEL_CHANGED,
    NO_STATE,
    OUTSIDE,
    STATE_STALE,
    Fault,
    Refused,
)
from dynamics_node.safety.gate_limits import GateLimits
from dynamics_node.safety.ramp import TorqueRamp, torque_steps
from dynamics_node.safety.records import LastValid, Predict, Proposal, Release, State, Status
from dynamics_node.safety.releaser import Releaser
from dynamics_node.safety.start_torque import check_limits_known, start_torque
from dynamics_node.safety.state_checks import StateChecks, publisher_fault
from dynamics_node.safety.stop import GRAVITY, Stop
from dynamics_node.safety.stop_releases import stop_release, use_prediction

ENABLED = State.ENABLED   # reading an entry of an Enum takes thirty times as long
ACTIVE = (State.RAMPING_IN, ENABLED)   # the wanted torque is followed
LEAST_TIME = 1e-9   # [s] a bridge that begins now, since zero means that there is none


class Gate:
    """Release the wanted torque, as far as the contract permits.

    Call `step` on every joint state (or at a fixed rate) and `tick` on a timer, at least twice
    within max_state_age; publish what they return. While `braking`, the torque of a proposal must
    be the one that brakes. Torques begin by `enable` and end by `disable`.

    :ivar state: State of the gate; only the gate sets it.
    :ivar idle: whether nothing will be released until `enable`; only the gate sets it.
    """

    def __init__(self, limits: GateLimits | None = None,
                 steady: SteadyTime = lambda: None,
                 predict: Predict = lambda last_valid: None) -> None:
        """Begin disabled.

        :param limits: see gate_limits_of; None: there is no model yet.
        :param steady: see Clock.
        :param predict: returns the Proposal at the predicted state.
        """
        _check_limits(limits)
        self._steady, self._predict = steady, predict
        self.state = State.DISABLED
        self._fault: Fault | None = None
        self._out = Releaser()
        self._bridged = 0
        self._refused: Counter[str] = Counter()
        self._apply_limits(limits)

    def _apply_limits(self, limits: GateLimits | None) -> None:
        # None without a model; then the gate is idle, and no method uses them.
        self._limits: GateLimits = limits   # type: ignore[assignment]
        self._state_checks: StateChecks = (
            StateChecks(limits) if limits else None)   # type: ignore[assignment]
        self._next_limits: GateLimits | None = None
        self._limits_pending = False
        self._clock = Clock(limits.settings.max_clock_step if limits else math.inf, self._steady)
        self._become_idle()

    def _become_idle(self) -> None:
        """Release nothing until `enable`."""
        self._out.end()
        self.idle = True
        self._ramp: TorqueRamp = None   # type: ignore[assignment]  # None while idle
        self._stop: Stop | None = None   # how torques end; None while the wanted one is followed
        self._ramp_time = 0.0          # [s] since the ramp in began
        self._silent = False           # whether a silence of the joint states is bridged
        self._bridging = 0.0           # [s] since it is bridged by the torque of gravity
        if self.state is not State.FAULT:
            self.state = State.DISABLED
        if self._limits_pending:
            self._apply_limits(self._next_limits)

    # State -----------------------------------------------------------------------------------

    @property
    def braking(self) -> bool:
        """Whether the torque of the next proposal must be the one that brakes."""
        return self._stop is not None and self._stop.braking and not self._stop.blind

    def last_valid(self) -> LastValid | None:
        """Return the last valid joint state and the last release; None while idle."""
        if self.idle:
            return None
        checks, (position, v) = self._state_checks, self._state_checks.measured
        return tuple.__new__(LastValid, (checks.age, position, v, self._out.last,   # faster
                                         self._stop is not None and self.braking))

    def status(self) -> Status:
        """Return the Status, for diagnostics."""
        return Status(self.state, self.idle, self._fault.text if self._fault else '',
                      self._out.count, Counter(self._refused), Counter(self._out.limited),
                      self._bridged)

    # Requests --------------------------------------------------------------------------------

    def enable(self, now: float, proposal: Proposal | None) -> None:
        """Begin to release torques, ramping in; this ends a fault.

        The ramp begins at the last release if the ramp to the safe torque is still under way, else
        as start_torque.py says. No effect when enabled already.

        :param proposal: as for `step`, of this moment; None if nothing is measured yet.
        :raise Refused: why not; the gate is then unchanged.
        """
        if self.state in ACTIVE:
            return
        try:
            start = self._permitted_start(now, proposal)
        except Refused as refusal:
            self._refused[f'enable: {refusal.kind}'] += 1
            raise
        self._out.begin(self._limits, start)
        self.idle = False
        self._ramp, self._ramp_time = TorqueRamp(start, self._limits.settings.ramp_in_time), 0.0
        self.state, self._fault, self._stop, self._bridging = State.RAMPING_IN, None, None, 0.0

    def disable(self, now: float) -> None:
        """Brake, ramp to the safe torque, then release nothing more; no effect during a fault."""
        if self.state not in ACTIVE:
            return
        fault = self._advance_clock(now)
        if fault:
            self._enter_fault(fault)
            return
        self.state = State.BRAKING if self._can_brake() else State.RAMPING_OUT
        self._begin_stop(Stop.after_disable(self._limits.settings, self._out.last,
                                            braking=self.state is State.BRAKING))

    def report_fault(self, now: float, text: str, kind: str = OUTSIDE) -> None:
        """Enter a fault that the gate cannot detect itself, an exception for example."""
        if self.idle:
            return
        self._advance_clock(now)
        self._enter_fault(Fault(kind, str(text)))

    def change_limits(self, limits: GateLimits | None) -> None:
        """Enforce other limits from now on: the model, a limit or a setting has changed.

        While torques are released this is a fault. They decay under the limits and the joint names
        that they began with; until that is done `enable` is refused. None: there is no model.
        """
        _check_limits(limits)
        if not self.idle:
            self._enter_fault(Fault(MODEL_CHANGED, 'the model or its limits changed'))
        if self.idle:
            self._apply_limits(limits)
        else:
            self._limits_pending, self._next_limits = True, limits

    # Releases --------------------------------------------------------------------------------

    def step(self, now: float, proposal: Proposal) -> Release | None:
        """Return the Release of a proposal, whose torque is ignored while ramping out, or None."""
        if self.idle:
            return None
        fault = self._advance_clock(now) or self._proposal_fault(now, proposal)
        if fault:
            if self._can_bridge(fault):
                return self._bridge()
            self._enter_fault(fault)
            if self.idle:   # nothing was released yet
                return None
        elif self._silent:
            self._end_bridge()
        return self._follow() if self._stop is None else self._continue_stop(self._stop)

    def tick(self, now: float) -> Release | None:
        """Return a Release if one is due by time alone, when joint states no longer arrive."""
        if self.idle:
            return None
        fault = self._advance_clock(now) or self._state_checks.age_fault()
        if fault:
            if self._can_bridge(fault):
                return self._bridge()
            self._enter_fault(fault)
        elif (self._stop is None and self._out.has_released and self._state_checks.is_overdue
              and self._use_prediction()):
            return self._follow()
        if self._stop is None or self._stop.needs_state:
            return None
        return self._continue_stop(self._stop)

    def shutdown_sequence(self, now: float) -> tuple[Release, ...]:
        """Return the Releases that end in the safe torque, for a process about to end.

        Publish them exit_period apart; the first repeats the last release, and all take less than a
        second. The gate is idle afterwards. Gravity is that of the last valid joint state, provided
        that a silence since then could be bridged: no other state will come.
        """
        if not self._out.has_released:
            self._become_idle()
            return ()
        self._advance_clock(now)
        limits, settings = self._limits, self._limits.settings
        gravity = (settings.safe_action == 'gravity' and self._is_recent()
                   and (self._stop is None or self._stop.safe == GRAVITY))
        safe = self._state_checks.gravity if gravity else limits.zero
        releases = tuple(filter(None, map(self._out.make, torque_steps(
            self._out.last, safe, settings.ramp_out_time, limits.slew, settings.exit_period))))
        self._become_idle()
        return releases

    # Checks ----------------------------------------------------------------------------------

    def _advance_clock(self, now: float) -> Fault | None:
        """Add the time since the last call; return the Fault of a clock that jumped."""
        passed, fault = self._clock.advance(now)
        self._ramp_time += passed
        self._out.since += passed
        if self._limits is not None:
            self._state_checks.age += passed
            if fault:
                self._state_checks.forget_stamp()
        if self._stop is not None:
            self._stop.pass_time(passed)
        if self._bridging:
            self._bridging += passed
        return fault

    def _proposal_fault(self, now: float, proposal: Proposal) -> Fault | None:
        """Return the Fault of a proposal, or None; only the parts in use are checked."""
        stop, checks = self._stop, self._state_checks
        if stop is not None and not stop.needs_state and self.state is State.FAULT:
            return None
        fault = checks.state_fault(now, proposal)
        if fault is None and proposal.other_publisher:
            fault = publisher_fault(proposal)
        if stop is None:
            return fault or checks.request_fault(proposal)
        if stop.braking and not self.idle and checks.request_fault(proposal):
            stop.end_braking(self._out.last)   # the torque that brakes could not be computed
        return fault

    def _is_recent(self) -> bool:
        """Return whether a silence since the last valid joint state can be bridged."""
        checks, settings = self._state_checks, self._limits.settings
        longest = settings.bridge_time if checks.measured_at_rest else settings.prediction_time
        return checks.age <= settings.max_state_age + longest

    def _can_bridge(self, fault: Fault) -> bool:
        """Return whether a fault is a silence of the joint states that is still short."""
        return (fault.kind == STATE_STALE and self._stop is None and self._out.has_released
                and self._is_recent())

    def _can_brake(self) -> bool:
        """Return whether joints move and torques may brake them."""
        return self._limits.settings.brake_time > 0.0 and not self._state_checks.at_rest

    def _permitted_start(self, now: float, proposal: Proposal | None) -> Sequence[float]:
        """Return the torque to ramp in from, or raise Refused."""
        if self._limits_pending:
            raise Refused('decaying', 'the torque of the former model is still decaying')
        check_limits_known(self._limits)
        if proposal is None:
            raise Refused(NO_STATE, 'no joint state has been measured')
        if self.idle:
            self._clock.stop()
        checks = StateChecks(self._limits)
        fault = (self._advance_clock(now) or checks.state_fault(now, proposal)
                 or publisher_fault(proposal) or checks.request_fault(proposal))
        if fault:
            raise Refused(fault.kind, fault.text)
        self._state_checks = checks
        if not self.idle:
            return self._out.last
        return start_torque(self._limits, checks.gravity, proposal.measured.effort)

    # Torques ---------------------------------------------------------------------------------

    def _follow(self) -> Release | None:
        """Release the wanted torque, limited, faded near limits, and ramped in."""
        checks = self._state_checks
        torque, limited = self._out.within_limits(checks)
        if self.state is State.RAMPING_IN:
            torque = self._ramp.towards(torque, self._ramp_time)
            if self._ramp.share(self._ramp_time) == 1.0:
                self.state = ENABLED
        return self._out.release(torque, limited) or self._release_again()

    # Silence ---------------------------------------------------------------------------------

    def _bridge(self) -> Release | None:
        """Release the wanted torque at the predicted state; at rest, that of gravity."""
        checks = self._state_checks
        self._bridged += not self._silent
        self._silent = True
        if not checks.measured_at_rest and self._use_prediction():
            return self._follow()
        self._bridging = self._bridging or LEAST_TIME
        return self._out.release(checks.gravity) or self._release_again()

    def _use_prediction(self) -> bool:
        """Predict the joint state and the wanted torque there; return False if impossible."""
        return use_prediction(self._state_checks, self._out, self._predict, braking=False)

    def _end_bridge(self) -> None:
        """Ramp back to the wanted torque, for at least as long as the ramp in still needed."""
        self._silent, left = False, 0.0
        if not self._bridging:   # the wanted torque was released all the time
            return
        if self.state is State.RAMPING_IN:
            left = self._ramp.duration - (self._ramp_time - self._bridging)
        self._ramp = TorqueRamp(self._out.last, max(self._bridging, left))
        self.state, self._ramp_time, self._bridging = State.RAMPING_IN, 0.0, 0.0

    # The end ---------------------------------------------------------------------------------

    def _enter_fault(self, fault: Fault) -> None:
        """Latch a fault and end torques; a later one counts only if it makes the state invalid."""
        stop = self._stop
        if self.state is State.FAULT and (fault.trusts_state or not (stop and stop.needs_state)):
            return
        self._refused[fault.kind] += 1
        if self.state is not State.FAULT:
            self.state, self._fault = State.FAULT, fault
        self._begin_stop(Stop.after_fault(self._limits.settings, self._out.last,
                                          self._can_brake(), blind=not fault.trusts_state))

    def _begin_stop(self, stop: Stop) -> None:
        """Begin the end of torques, or be idle at once if nothing was released yet."""
        if not self._out.has_released:
            self._become_idle()
            return
        self._stop = stop
        self._state_checks.torque = list(self._out.last)   # until a proposal has one that brakes
        self._silent, self._bridging = False, 0.0

    def _continue_stop(self, stop: Stop) -> Release | None:
        """Release the next torque of the end; the last one is the safe torque."""
        checks, zero = self._state_checks, self._limits.zero
        release = (stop_release(stop, checks, self._out, self._predict, zero)
                   or self._release_again())
        if self.state is State.BRAKING and not stop.braking:
            self.state = State.RAMPING_OUT
        if release and not stop.braking and stop.is_over(release.numbers, checks.gravity, zero):
            self._become_idle()
        return release

    def _release_again(self) -> Release | None:
        """Enter a fault, an internal error, and return the last release again."""
        self._enter_fault(Fault(GATE, 'internal error of the gate: about to release a torque '
                                'beyond the effort limits'))
        return None if self.idle else self._out.make(self._out.last)   # idle: nothing was released


def _check_limits(limits: GateLimits | None) -> None:
    if limits is not None:
        check_kind('limits', limits, GateLimits)
