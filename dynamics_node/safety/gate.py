"""Release the torques that may be published: the only producer of them.

The contract, kept by every Release without exception:

 1. It is finite, of one entry per degree of freedom, and within the effort limits.
 2. It differs from the one before by no more than the slew limits allow in the time between them;
    the first after `enable` is compared with the effort that `enable` started from.
 3. It is computed from a joint state no older than max_state_age, or from earlier releases alone.
 4. Nothing is released before `enable`, nor after a disable or a fault once the ramp to the safe
    torque is done. A fault lasts until `enable`, which is refused as long as its cause lasts.
    Nothing but `enable` enables: no restart, no end of a fault, no change of model.
 5. A disable, a fault and a shutdown end in the safe torque, exactly, and keep 1. to 4. until then.

The safe torque, `safe_action`: 'gravity' goes to the torque that holds the arm still where it is,
and leaves it as the last message, so that the arm does not drop. 'zero' goes to zero. 'hold' goes
to zero too, but after a fault it first keeps the last torque for hold_time. After a fault that
makes the joint state invalid (stale, jumped, not finite, ... or the clock jumped) 3. forbids
gravity: then 'gravity' acts as 'hold'.

The gate has no clock: `now` [s] comes with every call, on the clock that stamps the joint states.
It is not thread-safe.
"""

import math
from collections import Counter
from collections.abc import Sequence

from dynamics_node.checks import check_kind
from dynamics_node.safety.clock import Clock
from dynamics_node.safety.faults import GATE, MODEL_CHANGED, OUTSIDE, Fault, Refused
from dynamics_node.safety.gate_limits import GateLimits
from dynamics_node.safety.limit_fade import fade_near_limits
from dynamics_node.safety.ramp import TorqueRamp, torque_steps
from dynamics_node.safety.records import Proposal, Release, State, Status
from dynamics_node.safety.small_vectors import all_within
from dynamics_node.safety.start_torque import start_torque
from dynamics_node.safety.state_checks import StateChecks, publisher_fault
from dynamics_node.safety.torque_limits import limit_effort, limit_slew

ACTIVE = (State.RAMPING_IN, State.ENABLED)   # the wanted torque is followed
EFFORT, SLEW, POSITION, VELOCITY = 'effort', 'slew', 'position', 'velocity'

Limited = Sequence[tuple[str, str]]   # pairs (which limit, which joint)


class Gate:
    """Release the wanted torque, as far as the contract permits.

    Call `step` on every joint state (or at a fixed rate) and `tick` on a timer, at least twice
    within max_state_age; publish what they return. The rest is `enable` and `disable`.
    """

    def __init__(self, limits: GateLimits | None = None) -> None:
        """Begin disabled.

        :param limits: see gate_limits_of; None: there is no model yet.
        """
        _check_limits(limits)
        self._state = State.DISABLED
        self._fault: Fault | None = None
        self._released = 0
        self._refused: Counter[str] = Counter()
        self._limited: Counter[tuple[str, str]] = Counter()
        self._apply_limits(limits)

    def _apply_limits(self, limits: GateLimits | None) -> None:
        # None without a model; then the gate is idle, and no method uses them.
        self._limits: GateLimits = limits   # type: ignore[assignment]
        self._state_checks: StateChecks = (
            StateChecks(limits) if limits else None)   # type: ignore[assignment]
        self._next_limits: GateLimits | None = None
        self._limits_pending = False
        self._clock = Clock(limits.settings.max_clock_step if limits else math.inf)
        self._become_idle()

    def _become_idle(self) -> None:
        """Release nothing until `enable`."""
        # None while idle
        self._ramp: TorqueRamp = None           # type: ignore[assignment]
        self._last: tuple[float, ...] = None    # type: ignore[assignment]  # last torque, or start
        self._has_released = False     # whether anything was released since `enable`
        self._to_gravity = False       # whether the ramp out ends in the torque of gravity
        self._ramp_time = 0.0          # [s] since the ramp began
        self._since_release = 0.0      # [s] since the last release
        if self._state is not State.FAULT:
            self._state = State.DISABLED
        if self._limits_pending:
            self._apply_limits(self._next_limits)

    # State -----------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """The State of the gate."""
        return self._state

    @property
    def idle(self) -> bool:
        """Whether nothing will be released until `enable`."""
        return self._last is None

    def status(self) -> Status:
        """Return the Status, for diagnostics."""
        return Status(self._state, self.idle, self._fault.text if self._fault else '',
                      self._released, Counter(self._refused), Counter(self._limited))

    # Requests --------------------------------------------------------------------------------

    def enable(self, now: float, proposal: Proposal | None) -> None:
        """Begin to release torques, ramping in; this ends a fault.

        The ramp begins at the last release if the ramp to the safe torque is still under way, else
        as start_torque.py says. No effect when enabled already.

        :param proposal: as for `step`, of this moment; None if nothing is measured yet.
        :raise Refused: why not; the gate is then unchanged.
        """
        if self._state in ACTIVE:
            return
        try:
            start = self._permitted_start(now, proposal)
        except Refused as refusal:
            self._refused[f'enable: {refusal.kind}'] += 1
            raise
        self._last = tuple(start)
        self._ramp, self._ramp_time = TorqueRamp(start, self._limits.settings.ramp_in_time), 0.0
        self._state, self._fault, self._to_gravity = State.RAMPING_IN, None, False

    def disable(self, now: float) -> None:
        """Ramp out to the safe torque, then release nothing more. A fault remains one."""
        if self._state not in ACTIVE:
            return
        fault = self._advance_clock(now)
        if fault:
            self._enter_fault(fault)
        else:
            self._state = State.RAMPING_OUT
            self._start_ramp_out(to_gravity=self._limits.settings.safe_action == 'gravity')

    def report_fault(self, now: float, text: str, kind: str = OUTSIDE) -> None:
        """Enter a fault that the gate cannot detect itself, an exception for example."""
        if self.idle:
            return
        jump = self._advance_clock(now)
        self._enter_fault(Fault(kind, str(text)))
        if jump:
            self._enter_fault(jump)

    def change_limits(self, limits: GateLimits | None) -> None:
        """Enforce other limits from now on: the model, a limit or a setting has changed.

        While torques are released this is a fault. They decay under the limits and the joint names
        that they began with; until that is done `enable` is refused.

        :param limits: None: there is no model until the next change.
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
        """Return the Release of a proposal, or None: publish nothing.

        :param now: [s]
        :param proposal: see Proposal; its torque is ignored while ramping out.
        """
        if self._last is None:
            return None
        fault = self._advance_clock(now) or self._proposal_fault(now, proposal)
        if fault:
            self._enter_fault(fault)
        return self._follow() if self._state in ACTIVE else self._continue_ramp_out()

    def tick(self, now: float) -> Release | None:
        """Return a Release if one is due by time alone, when joint states no longer arrive."""
        if self.idle:
            return None
        fault = self._advance_clock(now) or self._state_checks.age_fault(now)
        if fault:
            self._enter_fault(fault)
        needs_state = self._state in ACTIVE or self._to_gravity
        return None if needs_state else self._continue_ramp_out()

    def shutdown_sequence(self, now: float) -> tuple[Release, ...]:
        """Return the Releases that end in the safe torque, for a process about to end.

        Publish them exit_period apart; the first repeats the last release, and all take less than a
        second. The gate is idle afterwards. Gravity is that of the last joint state, provided it is
        no older than max_state_age now: no other will come.
        """
        if not self._has_released:
            self._become_idle()
            return ()
        limits, settings = self._limits, self._limits.settings
        gravity = (settings.safe_action == 'gravity' and not self._state_checks.age_fault(now)
                   and (self._state is not State.FAULT or self._to_gravity))
        safe = self._state_checks.gravity if gravity else limits.zero
        releases = tuple(filter(None, map(self._release, torque_steps(
            self._last, safe, settings.ramp_out_time, limits.slew, settings.exit_period))))
        self._become_idle()
        return releases

    # Checks ----------------------------------------------------------------------------------

    def _advance_clock(self, now: float) -> Fault | None:
        """Add the time since the last call; return the Fault of a clock that jumped."""
        passed, fault = self._clock.advance(now)
        self._ramp_time += passed
        self._since_release += passed
        return fault

    def _proposal_fault(self, now: float, proposal: Proposal) -> Fault | None:
        """Return the Fault of a proposal, or None; only the parts in use are checked."""
        if self._state is State.FAULT and not self._to_gravity:
            return None
        fault = self._state_checks.state_fault(now, proposal) or publisher_fault(proposal)
        if fault or self._state not in ACTIVE:
            return fault
        return self._state_checks.request_fault(proposal)

    def _permitted_start(self, now: float, proposal: Proposal | None) -> Sequence[float]:
        """Return the torque to ramp in from, or raise Refused."""
        if self._limits_pending:
            raise Refused('decaying', 'the torque of the former model is still decaying')
        if self._limits is None or not self._limits.joints.driven.any():
            raise Refused('no model', 'there is no robot model with a joint to drive')
        if self._limits.unknown_effort:
            raise Refused('limits unknown', 'the effort limit is unknown: '
                          f"{', '.join(self._limits.unknown_effort)}; give one, or set "
                          "unknown_effort to 'assume' and assumed_effort to a limit that is safe "
                          'for each of them')
        if proposal is None:
            raise Refused('no state', 'no joint state has been measured')
        if self.idle:
            self._clock.stop()
        checks = StateChecks(self._limits)
        fault = (self._advance_clock(now) or checks.state_fault(now, proposal)
                 or publisher_fault(proposal) or checks.request_fault(proposal))
        if fault:
            raise Refused(fault.kind, fault.text)
        self._state_checks = checks
        if self._last is not None:
            return self._last
        return start_torque(self._limits, checks.gravity, proposal.measured.effort)

    # Torques ---------------------------------------------------------------------------------

    def _follow(self) -> Release | None:
        """Release the wanted torque, limited, faded near limits, and ramped in."""
        limits, checks = self._limits, self._state_checks
        torque: Sequence[float]
        torque, joints = limit_effort(limits, checks.torque)
        limited = self._count_limited(EFFORT, joints) if joints else []
        if checks.near_limits:
            torque, by_position, by_velocity = fade_near_limits(
                limits, torque, checks.gravity, checks.position, checks.v)
            limited += self._count_limited(POSITION, by_position)
            limited += self._count_limited(VELOCITY, by_velocity)
        if self._state is State.RAMPING_IN:
            torque = self._ramp.towards(torque, self._ramp_time)
            if self._ramp.share(self._ramp_time) == 1.0:
                self._state = State.ENABLED
        return self._release_slew_limited(torque, limited)

    def _enter_fault(self, fault: Fault) -> None:
        """Latch a fault and ramp out; a later one counts only if it makes the state invalid."""
        if self._state is State.FAULT and (fault.trusts_state or not self._to_gravity):
            return
        self._refused[fault.kind] += 1
        if self._state is not State.FAULT:
            self._state, self._fault = State.FAULT, fault
        settings = self._limits.settings
        to_gravity = settings.safe_action == 'gravity' and fault.trusts_state
        at_once = to_gravity or settings.safe_action == 'zero'
        self._start_ramp_out(to_gravity, 0.0 if at_once else settings.hold_time)

    def _start_ramp_out(self, to_gravity: bool, hold: float = 0.0) -> None:
        """Begin the ramp to the safe torque, or be idle at once if nothing was released yet."""
        if not self._has_released:
            self._become_idle()
            return
        self._to_gravity, self._ramp_time = to_gravity, 0.0
        self._ramp = TorqueRamp(self._last, self._limits.settings.ramp_out_time, hold)

    def _continue_ramp_out(self) -> Release | None:
        """Release the next torque of the ramp; the last one is the safe torque."""
        if self.idle:
            return None
        safe = self._state_checks.gravity if self._to_gravity else self._limits.zero
        release = self._release_slew_limited(self._ramp.towards(safe, self._ramp_time))
        if release and release.numbers == tuple(safe) and self._ramp.share(self._ramp_time) == 1.0:
            self._become_idle()
        return release

    def _release_slew_limited(self, torque: Sequence[float],
                              limited: Limited = ()) -> Release | None:
        """Release a torque, as far as the slew limits allow."""
        torque, joints = limit_slew(
            self._limits, torque, self._last,
            min(self._since_release, self._limits.settings.max_state_age))
        if joints:
            limited = [*limited, *self._count_limited(SLEW, joints)]
        return self._release(torque, limited)

    def _release(self, torque: Sequence[float], limited: Limited = ()) -> Release | None:
        """Return the Release of a torque; no other place makes one.

        The check is redundant: every torque that arrives here is within the limits.
        """
        if not all_within(torque, self._limits.effort):
            self._enter_fault(
                Fault(GATE, 'internal error of the gate: about to release a torque beyond the '
                      f'effort limits, {list(torque)}'))
            if self.idle:  # nothing was released yet
                return None
            torque, limited = self._last, ()
        self._last, self._has_released, self._since_release = tuple(torque), True, 0.0
        self._released += 1
        return Release(self._last, self._limits.joints.names, tuple(limited))

    def _count_limited(self, which: str, joints: Sequence[int]) -> list[tuple[str, str]]:
        """Count the joints that a limit changed; return the pairs (which limit, which joint)."""
        names = self._limits.joints.names
        pairs = [(which, names[k]) for k in joints]
        self._limited.update(pairs)
        return pairs


def _check_limits(limits: GateLimits | None) -> None:
    if limits is not None:
        check_kind('limits', limits, GateLimits)
