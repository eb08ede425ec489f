"""The only producer of a torque that may be published.

The contract, kept by every Release without exception:

 1. It is finite, of one entry per degree of freedom, and within the effort limits.
 2. It differs from the one before by no more than the slew limits allow in the time between them;
    the first after `enable` differs so from the effort that `enable` started from.
 3. It is computed from a joint state no older than max_state_age, or from earlier releases alone.
 4. Nothing is released before `enable`, nor after a disable or a fault once its way to the safe
    torque is done. A fault stays until `enable`, which is refused as long as its cause is there.
    Nothing but `enable` enables: no restart, no end of a fault, no change of model.
 5. A disable, a fault and an exit end in the safe torque, exactly, by the contract all the way.

What is safe, `safe_action`: 'gravity' goes to the torque that holds the arm still where it is, and
leaves it as the last message, so that the arm does not drop. 'zero' goes to zero. 'hold' goes to
zero too, after a fault only when hold_time has passed. After a fault that leaves no state to trust
(it is stale, jumped, not finite, ... or the clock did) 3. forbids gravity: then it is as 'hold'.

The gate has no clock: `now` [s] comes with every call, on the clock that stamps the joint states.
It is not for several threads at once.
"""

import math
from collections import Counter

import numpy as np

from dynamics_node.robot.arguments import check_kind
from dynamics_node.safety.clock import Clock
from dynamics_node.safety.faults import GATE, MODEL_CHANGED, OUTSIDE, Fault, Refused
from dynamics_node.safety.gate_limits import GateLimits
from dynamics_node.safety.limit_fade import fade_near_limits
from dynamics_node.safety.ramp import TorqueRamp, stairs
from dynamics_node.safety.records import Release, State, Status
from dynamics_node.safety.small_vectors import every, some, vector, within
from dynamics_node.safety.state_checks import StateChecks, publisher_fault

ACTIVE = (State.RAMPING_IN, State.ENABLED)   # the wanted torque is followed
EFFORT, SLEW, POSITION, VELOCITY = 'effort', 'slew', 'position', 'velocity'


class Gate:
    """Release what is wanted, as far as the contract permits.

    `step` on every joint state (or at a fixed rate), `tick` on a timer, at least twice within
    max_state_age; what they return is to be published. The rest is `enable` and `disable`.
    """

    def __init__(self, rules=None):
        """Begin disabled.

        :param rules: see gate_limits_of; None: there is no model yet.
        """
        _check_rules(rules)
        self._state, self._fault = State.DISABLED, None
        self._released, self._refused, self._limited = 0, Counter(), Counter()
        self._adopt(rules)

    def _adopt(self, rules):
        self._rules, self._next_rules, self._pending = rules, None, False
        self._clock = Clock(rules.settings.max_clock_step if rules else math.inf)
        self._watch = StateChecks(rules) if rules else None
        self._rest()

    def _rest(self):
        """Release nothing from now on."""
        self._ramp = self._last = None   # where a ramp began; what was released last, nv floats
        self._spoken = False             # whether anything was released since `enable`
        self._to_gravity = False         # whether the way down ends in the torque of gravity
        self._elapsed = self._since = 0.0   # [s] since the ramp began; since the last release
        if self._state is not State.FAULT:
            self._state = State.DISABLED
        if self._pending:
            self._adopt(self._next_rules)

    # What it says ----------------------------------------------------------------------------

    @property
    def state(self):
        return self._state

    @property
    def idle(self):
        """Whether nothing will be released until `enable`."""
        return self._last is None

    def status(self):
        """Return the Status, for diagnostics."""
        return Status(self._state, self.idle, self._fault.text if self._fault else '',
                      self._released, Counter(self._refused), Counter(self._limited))

    # What the user asks ----------------------------------------------------------------------

    def enable(self, now, proposal):
        """Begin to release torques, ramping in; a fault is over with that.

        The ramp begins at what was released last if its way to the safe torque is still under way,
        else at the measured effort, or where that is unknown at unknown_start. When enabled
        already, nothing happens.

        :param proposal: as for `step`, of this moment; None if nothing is measured yet.
        :raise Refused: why not. All is then as it was.
        """
        if self._state in ACTIVE:
            return
        try:
            start = self._permitted_start(now, proposal)
        except Refused as refusal:
            self._refused[f'enable: {refusal.kind}'] += 1
            raise
        self._last = tuple(start.tolist())
        self._ramp, self._elapsed = TorqueRamp(start, self._rules.settings.ramp_in_time), 0.0
        self._state, self._fault, self._to_gravity = State.RAMPING_IN, None, False

    def disable(self, now):
        """Ramp out to the safe torque; then nothing more is released. A fault stays one."""
        if self._state not in ACTIVE:
            return
        fault = self._passed(now)
        if fault:
            self._fall(fault)
        else:
            self._state = State.RAMPING_OUT
            self._go_down(to_gravity=self._rules.settings.safe_action == 'gravity')

    def trip(self, now, text):
        """Fault for a reason that the gate cannot see, an exception for example."""
        if self.idle:
            return
        jump = self._passed(now)
        self._fall(Fault(OUTSIDE, str(text)))
        if jump:
            self._fall(jump)

    def renew(self, rules):
        """Go by other rules from now on: the model, a limit or a setting has changed.

        If something is still being released, that is a fault. Its torque decays by the rules it
        began with, under the names it began with; until then `enable` is refused.

        :param rules: None: there is no model until the next change.
        """
        _check_rules(rules)
        if not self.idle:
            self._fall(Fault(MODEL_CHANGED, 'the model or its limits changed'))
        if self.idle:
            self._adopt(rules)
        else:
            self._pending, self._next_rules = True, rules

    # What the node does ----------------------------------------------------------------------

    def step(self, now, proposal):
        """Return the Release of a proposal, or None: nothing is to be published.

        :param now: [s]
        :param proposal: see Proposal; the torque is not looked at on the way down.
        """
        if self.idle:
            return None
        fault = self._passed(now) or self._proposal_fault(now, proposal)
        if fault:
            self._fall(fault)
        if self._state in ACTIVE:
            return self._follow(np.asarray(proposal.torque, dtype=float))
        return self._descend()

    def tick(self, now):
        """Return a Release if it is due by time alone, when no joint state comes any more."""
        if self.idle:
            return None
        fault = self._passed(now) or self._watch.age_fault(now)
        if fault:
            self._fall(fault)
        needs_state = self._state in ACTIVE or self._to_gravity
        return None if needs_state else self._descend()

    def shutdown_sequence(self, now):
        """Return the Releases that end in the safe torque, for a process about to end.

        They are to be published exit_period apart; the first repeats what was released last. It
        takes less than a second. The gate is idle afterwards. Gravity is the one of the last joint
        state, if that is no older than max_state_age now: no other will come.
        """
        if not self._spoken:
            self._rest()
            return ()
        rules, settings = self._rules, self._rules.settings
        gravity = (settings.safe_action == 'gravity' and not self._watch.age_fault(now)
                   and (self._state is not State.FAULT or self._to_gravity))
        safe = self._watch.gravity if gravity else rules.zero
        releases = tuple(self._sealed(effort.tolist()) for effort in stairs(
            np.array(self._last), safe, settings.ramp_out_time, rules.slew, settings.exit_period))
        self._rest()
        return releases

    # How it goes -----------------------------------------------------------------------------

    def _passed(self, now):
        """Let the time pass since the last call; return the Fault of a clock that jumped."""
        passed, fault = self._clock.advance(now)
        self._elapsed += passed
        self._since += passed
        return fault

    def _proposal_fault(self, now, proposal):
        """Return the Fault of a proposal, or None: of as much of it as will be used."""
        if self._state is State.FAULT and not self._to_gravity:
            return None
        fault = self._watch.state_fault(now, proposal) or publisher_fault(proposal)
        if fault or self._state not in ACTIVE:
            return fault
        return self._watch.wish_fault(proposal)

    def _permitted_start(self, now, proposal):
        """Return the torque to ramp in from, or raise Refused."""
        if self._pending:
            raise Refused('decaying', 'the torque of the former model is still decaying')
        if self._rules is None or not self._rules.limits.driven.any():
            raise Refused('no model', 'there is no robot model with a joint to drive')
        if self._rules.unlimited:
            raise Refused('limits unknown', 'the effort limit is unknown of '
                          f"{', '.join(self._rules.unlimited)}; give one, or set unknown_effort to "
                          "'assume' and assumed_effort to what each of them can bear")
        if proposal is None:
            raise Refused('no state', 'no joint state has been measured')
        if self.idle:
            self._clock.stop()
        watch = StateChecks(self._rules)
        fault = (self._passed(now) or watch.state_fault(now, proposal)
                 or publisher_fault(proposal) or watch.wish_fault(proposal))
        if fault:
            raise Refused(fault.kind, fault.text)
        self._watch = watch
        return self._start(proposal.measured.effort) if self.idle else np.array(self._last)

    def _start(self, effort):
        """Return the measured effort within the limits, unknown_start where it is unknown."""
        rules = self._rules
        unknown = self._watch.gravity if rules.settings.unknown_start == 'gravity' else rules.zero
        effort = vector(effort, rules.limits.nv)
        if effort is None:
            return unknown
        return rules.clip(np.where(np.isfinite(effort), effort, unknown))

    def _follow(self, wanted):
        """Release what is wanted, limited, guarded and ramped in."""
        rules, watch, limited = self._rules, self._watch, []
        if watch.open and self._state is State.ENABLED:
            torque = self._unlimited(wanted.tolist())
            if torque is not None:
                return self._sealed(torque)
        torque = rules.clip(wanted)
        self._note(limited, EFFORT, (torque != wanted) & rules.limits.driven)
        if not watch.open:
            torque, by_position, by_velocity = fade_near_limits(
                rules, torque, watch.gravity, watch.position, watch.v)
            self._note(limited, POSITION, by_position)
            self._note(limited, VELOCITY, by_velocity)
        if self._state is State.RAMPING_IN:
            torque = self._ramp.towards(torque, self._elapsed)
            if self._ramp.share(self._elapsed) == 1.0:
                self._state = State.ENABLED
        return self._release(torque, limited)

    def _unlimited(self, wanted):
        """Return what is wanted if neither effort nor slew limits it, as nearly always; or None.

        The same comparisons as in clip and _release, over plain numbers.
        """
        time = min(self._since, self._rules.settings.max_state_age)
        torque = []
        for x, last, most, slew in zip(wanted, self._last, self._rules.most, self._rules.slews):
            if most == 0.0:
                x = 0.0  # nothing drives it
            reach = slew * time
            if not (-most <= x <= most and last - reach <= x <= last + reach):
                return None
            torque.append(x)
        return torque

    def _fall(self, fault):
        """Latch a fault and go down; the first one stays, but a later one can cost the state."""
        if self._state is State.FAULT and (fault.trusts_state or not self._to_gravity):
            return
        self._refused[fault.kind] += 1
        if self._state is not State.FAULT:
            self._state, self._fault = State.FAULT, fault
        settings = self._rules.settings
        to_gravity = settings.safe_action == 'gravity' and fault.trusts_state
        at_once = to_gravity or settings.safe_action == 'zero'
        self._go_down(to_gravity, 0.0 if at_once else settings.hold_time)

    def _go_down(self, to_gravity, hold=0.0):
        """Begin the way to the safe torque; who has said nothing yet is there already."""
        if not self._spoken:
            self._rest()
            return
        self._to_gravity, self._elapsed = to_gravity, 0.0
        self._ramp = TorqueRamp(np.array(self._last), self._rules.settings.ramp_out_time, hold)

    def _descend(self):
        """Release the next torque on the way to the safe one; the last is the safe one."""
        if self.idle:
            return None
        safe = self._watch.gravity if self._to_gravity else self._rules.zero
        release = self._release(self._ramp.towards(safe, self._elapsed), [])
        if self._ramp.share(self._elapsed) == 1.0 and every(release.effort == safe):
            self._rest()
        return release

    def _release(self, torque, limited):
        """Release a torque, as far as the slew limits let it."""
        rules = self._rules
        reach = rules.slew * min(self._since, rules.settings.max_state_age)
        last = np.array(self._last)
        effort = np.minimum(np.maximum(torque, last - reach), last + reach)
        self._note(limited, SLEW, effort != torque)
        return self._sealed(effort.tolist(), limited)

    def _sealed(self, effort, limited=()):
        """Return the Release of plain numbers: the one place where there is one.

        No way leads here with more than the limits allow.
        """
        if not within(effort, self._rules.most):
            self._fall(Fault(GATE, f'the gate itself is wrong, it was about to release {effort}'))
            if self.idle:  # nothing was released yet
                return None
            effort, limited = self._last, ()
        self._last, self._spoken, self._since = tuple(effort), True, 0.0
        self._released += 1
        return Release(self._last, self._rules.limits.names, tuple(limited))

    def _note(self, limited, which, mask):
        """Add what was limited, and count it."""
        if some(mask):
            names = self._rules.limits.names
            hits = [(which, name) for name, hit in zip(names, mask.tolist()) if hit]
            limited.extend(hits)
            self._limited.update(hits)


def _check_rules(rules):
    if rules is not None:
        check_kind('rules', rules, GateLimits)
