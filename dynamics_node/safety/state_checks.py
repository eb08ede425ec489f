"""Check joint state, gravity torque and wanted torque: find the fault of a proposal."""

import math
from collections.abc import Callable, Sequence

from dynamics_node.errors import shown
from dynamics_node.safety.effort_and_slew_limits import limit_effort
from dynamics_node.safety.faults import (
    GRAVITY_NOT_FINITE,
    OTHER_PUBLISHER,
    POSITION,
    REFERENCE_STALE,
    STATE_AHEAD,
    STATE_BACK_IN_TIME,
    STATE_JUMP,
    STATE_MALFORMED,
    STATE_NOT_FINITE,
    STATE_STALE,
    TORQUE_MALFORMED,
    TORQUE_NOT_FINITE,
    VELOCITY,
    Fault,
)
from dynamics_node.safety.gate_limits import GateLimits
from dynamics_node.safety.records import LastValid, Proposal
from dynamics_node.safety.settings import LARGEST
from dynamics_node.safety.small_vectors import all_below, all_finite, all_within, numbers

TURN = 2.0 * math.pi
# A state is overdue after this many of the periods between states, and this time [s].
OVERDUE_PERIODS, LEAST_OVERDUE = 2.5, 0.005


class StateChecks:
    """Find the fault of a proposal, compared with the last one that had none.

    :ivar stamp: of the last valid joint state [s]; age: time since then [s].
    :ivar measured: its position and v, nv entries each.
    :ivar position, v: of that state, or of the one that was predicted since, nv entries each.
    :ivar near_limits: whether a joint was within the margin of a limit then.
    :ivar torque: wanted last without a fault, nv entries [N m or N].
    """

    def __init__(self, limits: GateLimits) -> None:
        self._limits, self._zones, settings = limits, limits.zones, limits.settings
        self._nq, self._nv = limits.joints.nq, limits.joints.nv
        self._max_age, self._jump_tolerance = settings.max_state_age, settings.jump_tolerance
        self.stamp: float | None = None
        self.age = self._period = 0.0
        self._seen = 0.0    # when that state came [s]
        self._oldest: Callable[[], str] | None = None   # of that state
        self.measured: tuple[Sequence[float], Sequence[float]] = [], []
        self.position: Sequence[float] = []
        self.v: Sequence[float] = []
        self.torque: list[float] = []
        self._gravity: list[float] = []
        self._checked: Proposal | None = None   # the one that _gravity belongs to
        self.near_limits = False

    @property
    def gravity(self) -> Sequence[float]:
        """The torque that balances gravity at that state, within the effort limits."""
        return limit_effort(self._limits, self._gravity)[0]

    @property
    def at_rest(self) -> bool:
        """Whether no joint moves in that state."""
        return all_within(self.v, self._limits.rest_speed)

    @property
    def measured_at_rest(self) -> bool:
        """Whether no joint moved in the last valid state."""
        return all_within(self.measured[1], self._limits.rest_speed)

    def resume(self, last_valid: LastValid, gravity: Sequence[float]) -> None:
        """Continue after a valid joint state that was checked elsewhere."""
        self.position, self.v = self.measured = last_valid.position, last_valid.v
        self._gravity, self.age = list(gravity), last_valid.seconds

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self.age += seconds

    @property
    def is_overdue(self) -> bool:
        """Whether joints move and their next state should have come by now."""
        return (self.age > max(OVERDUE_PERIODS * self._period, LEAST_OVERDUE)
                and not self.measured_at_rest)

    def age_fault(self) -> Fault | None:
        """Return the Fault if the last valid state is too old now, or None."""
        return self._age_fault(self.age, self._oldest)

    def forget_stamp(self) -> None:
        """Accept the next state at whatever time before or after the last valid one."""
        self.stamp = None

    def state_fault(self, now: float, proposal: Proposal) -> Fault | None:
        """Return the Fault of the measured state and of gravity; None: valid, and kept."""
        stamp, given_q, given_v, _, oldest = proposal.measured
        nq, nv, before, most = self._nq, self._nv, self.stamp, self._max_age
        q, v, gravity = numbers(given_q, nq), numbers(given_v, nv), numbers(proposal.gravity, nv)
        if q is None or v is None or gravity is None:
            return Fault(STATE_MALFORMED, f'expected q of {nq}, v and gravity of '
                         f'{nv} numbers; got q {shown(given_q, 200)}, '
                         f'v {shown(given_v, 200)}, gravity {shown(proposal.gravity, 200)}')
        position = self._limits.position(q) if nq > nv else q
        passed = 0.0 if before is None else max(now - self._seen, stamp - before)
        near, jumps = self._compare(position, v, passed)
        # A zone ends at LARGEST at most: joints that are not near a limit are finite.
        if (near or nq > nv) and not (all_below(q, LARGEST) and all_below(v, LARGEST)):
            return Fault(STATE_NOT_FINITE, f'the joint state is not finite: q {q}, v {v}')
        age = now - stamp
        if not -most <= age <= most:
            return self._age_fault(age, oldest)
        if before is not None and stamp < before:
            return Fault(STATE_BACK_IN_TIME, f'the joint state is {before - stamp:.6g} s older '
                         'than the one before')
        if jumps:
            fault = self._jump_fault(jumps, passed)
            if fault:
                return fault
        if not all_finite(gravity):
            return Fault(GRAVITY_NOT_FINITE, f'the torque that balances gravity is {gravity}')
        if before is not None and stamp > before:
            self._period = stamp - before
        self.stamp, self._seen, self.near_limits = stamp, now, near
        self.position, self.v, self._gravity = position, v, gravity
        self.measured, self.age, self._oldest = (position, v), age, oldest
        self._checked = proposal
        return self._limit_fault() if near else None

    def use_prediction(self, proposal: Proposal) -> bool:
        """Use a proposal at a predicted state; return False if it is not valid."""
        q, v = numbers(proposal.measured.q, self._nq), numbers(proposal.measured.v, self._nv)
        gravity = numbers(proposal.gravity, self._nv)
        if q is None or v is None or gravity is None or not all(
                map(all_finite, (q, v, gravity))) or self.request_fault(proposal):
            return False
        position = self._limits.position(q)
        self.near_limits = self._compare(position, v, 0.0)[0]
        self.position, self.v, self._gravity = position, v, gravity
        self._checked = proposal
        return True

    def request_fault(self, proposal: Proposal) -> Fault | None:
        """Return the Fault of the wanted torque and its reference; None: valid, and kept."""
        wanted, balancing, _, age, _ = proposal
        if age is not None:
            limit = self._limits.settings.max_reference_age
            if not -limit <= age <= limit:
                return Fault(REFERENCE_STALE, f'the reference is {age:.6g} s old, more than '
                             f'max_reference_age, {limit:g} s')
        if wanted is balancing and self._checked is proposal:   # finite, see state_fault
            self.torque = self._gravity
            return None
        torque = None if wanted is None else numbers(wanted, self._nv)
        if torque is None:
            return Fault(TORQUE_MALFORMED, f'the wanted torque must be {self._nv} '
                         f'numbers, got {shown(wanted, 200)}')
        if not all_finite(torque):
            return Fault(TORQUE_NOT_FINITE, f'the wanted torque is {torque}')
        self.torque = torque
        return None

    def _age_fault(self, age: float, oldest: Callable[[], str] | None) -> Fault | None:
        limit = self._max_age
        if -limit <= age <= limit:
            return None
        kind, when = ((STATE_AHEAD, f'{-age:.6g} s in the future') if age < 0.0 else
                      (STATE_STALE, f'{age:.6g} s old'))
        joint = oldest() if oldest else ''
        state = f"the state of joint '{joint}'" if joint else 'the joint state'
        return Fault(kind, f'{state} is {when}; max_state_age is {limit:g} s')

    def _compare(self, position: list[float], v: list[float],
                 passed: float) -> tuple[bool, list[tuple[int, float, float]]]:
        """Return whether a joint is near a limit; (joint, moved, allowed) of those that jumped."""
        near, jumps, tolerance = False, [], self._jump_tolerance
        for p, before, velocity, (k, lower, upper, speed, jump_speed) in zip(
                position, self.measured[0] or position, v, self._zones):
            if not (lower <= p <= upper and -speed <= velocity <= speed):
                near = True
            allowed = jump_speed * passed + tolerance
            if not -allowed <= p - before <= allowed:
                jumps.append((k, abs(p - before), allowed))
        return near, jumps

    def _jump_fault(self, jumps: list[tuple[int, float, float]], passed: float) -> Fault | None:
        """Return the Fault of the joint that moved furthest beyond what its velocity allows."""
        joints, fault, worst = self._limits.joints, None, 0.0
        for k, moved, allowed in jumps:
            if joints.turning[k]:  # a full turn changes nothing
                moved = abs(moved - TURN * round(moved / TURN))
            if moved - allowed > worst:
                worst = moved - allowed
                fault = Fault(STATE_JUMP, f"joint '{joints.names[k]}' moved by {moved:.6g} in "
                              f'{passed:.6g} s; at most {allowed:.6g} is plausible')
        return fault

    def _limit_fault(self) -> Fault | None:
        """Return the Fault of the joint furthest beyond a limit of position, else of velocity."""
        limits, names = self._limits, self._limits.joints.names
        fault, worst = None, 0.0
        for name, p, lower, upper, tolerance in zip(
                names, self.position, limits.lower, limits.upper, limits.position_tolerance):
            excess = max(p - upper, lower - p)
            if excess - tolerance > worst:
                worst = excess - tolerance
                fault = Fault(POSITION, f"joint '{name}' is at {p:.6g}, beyond its limits "
                              f'[{lower:g}, {upper:g}] by more than {tolerance:g}')
        if fault:
            return fault
        for name, v, limit, most in zip(names, self.v, limits.velocity, limits.velocity_fault):
            if abs(v) - most > worst:
                worst = abs(v) - most
                fault = Fault(VELOCITY, f"joint '{name}' moves at {v:.6g}; its limit is "
                              f'{limit:g}, a fault from {most:g} on')
        return fault


def publisher_fault(proposal: Proposal) -> Fault | None:
    """Return the Fault of a second publisher of torques, or None."""
    if proposal.other_publisher:
        return Fault(OTHER_PUBLISHER, 'another publisher is on the command topic or on ~/torque')
    return None
