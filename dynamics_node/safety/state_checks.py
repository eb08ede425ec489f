"""May this state be trusted, and this torque be had? The checks that end in a fault."""

import math

import numpy as np

from dynamics_node.errors import shown
from dynamics_node.safety.faults import (
    GRAVITY_NOT_FINITE,
    OTHER_PUBLISHER,
    POSITION,
    REFERENCE_STALE,
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
from dynamics_node.safety.limit_fade import in_the_open
from dynamics_node.safety.settings import LARGEST
from dynamics_node.safety.small_vectors import every, numbers, some, vector

TURN = 2.0 * np.pi


class StateChecks:
    """The last state that was good, and what is wrong with the next.

    :ivar v, speed: (nv,) of it where not open, until the end of the call that brought it.
    :ivar open: whether all joints were far from their limits.
    """

    def __init__(self, rules):
        self.rules = rules
        self.stamp = self.seen = None
        self._position = self._gravity = None   # of the last good state, plain numbers

    @property
    def position(self):
        """Where the joints were, (nv,)."""
        return np.array(self._position)

    @property
    def gravity(self):
        """What held gravity there, within the effort limits, (nv,)."""
        return self.rules.clip(np.array(self._gravity))

    def age_fault(self, now):
        """Return the Fault of the last good state having become too old, or None."""
        return self._age_fault(now - self.stamp)

    def state_fault(self, now, proposal):
        """Return the Fault of what was measured and of gravity, or None and take it for good."""
        if self._take_at_ease(now, proposal):
            return None
        rules, measured = self.rules, proposal.measured
        q = vector(measured.q, rules.limits.nq)
        v = vector(measured.v, rules.limits.nv)
        gravity = vector(proposal.gravity, rules.limits.nv)
        if q is None or v is None or gravity is None:
            return Fault(STATE_MALFORMED, f'expected q of {rules.limits.nq}, v and gravity of '
                         f'{rules.limits.nv} numbers; got q {shown(measured.q, 200)}, '
                         f'v {shown(measured.v, 200)}, gravity {shown(proposal.gravity, 200)}')
        speed = np.abs(v)
        if not (every(np.abs(q) <= LARGEST) and every(speed <= LARGEST)):
            return Fault(STATE_NOT_FINITE, 'the joint state is not finite: '
                         f'q {q.tolist()}, v {v.tolist()}')
        fault = self._age_fault(now - measured.stamp)
        if fault:
            return fault
        position = rules.position(q)
        if self.stamp is not None:
            if measured.stamp < self.stamp:
                return Fault(STATE_BACK_IN_TIME, 'the joint state is '
                             f'{self.stamp - measured.stamp:.6g} s older than the one before')
            fault = self._jump(max(now - self.seen, measured.stamp - self.stamp), position)
            if fault:
                return fault
        if not every(np.isfinite(gravity)):
            return Fault(GRAVITY_NOT_FINITE,
                         f'the torque that holds gravity is {gravity.tolist()}')
        self.stamp, self.seen = measured.stamp, now
        self._position, self._gravity = position.tolist(), gravity.tolist()
        self.v, self.speed = v, speed
        self.open = in_the_open(rules, position, speed)
        return None if self.open else self._beyond()

    def _take_at_ease(self, now, proposal):
        """Take a state for good if it is far from all limits; return whether it was.

        Nearly all are: of these nothing else could be said at the end, four times as slowly.
        """
        rules, measured = self.rules, proposal.measured
        oldest = self.rules.settings.max_state_age
        if self.stamp is None or not (self.stamp <= measured.stamp
                                      and -oldest <= now - measured.stamp <= oldest):
            return False
        nv = rules.limits.nv
        q, v = numbers(measured.q, nv), numbers(measured.v, nv)
        gravity = numbers(proposal.gravity, nv)
        if q is None or v is None or gravity is None or rules.limits.nq != nv:
            return False
        passed = max(now - self.seen, measured.stamp - self.stamp)
        tolerance = rules.settings.jump_tolerance
        for p, before, speed, holding, (lower, upper, fastest, jump) in zip(
                q, self._position, v, gravity, rules.ease):
            reach = jump * passed + tolerance
            if not (lower <= p <= upper and -fastest <= speed <= fastest
                    and -reach <= p - before <= reach and -LARGEST <= holding <= LARGEST):
                return False
        self.stamp, self.seen, self.open = measured.stamp, now, True
        self._position, self._gravity = q, gravity
        return True

    def wish_fault(self, proposal):
        """Return the Fault of what is wanted, or None."""
        age, limit = proposal.reference_age, self.rules.settings.max_reference_age
        if age is not None and not -limit <= age <= limit:
            return Fault(REFERENCE_STALE, f'the reference is {age:.6g} s old, more than '
                         f'max_reference_age, {limit:g} s')
        plain = numbers(proposal.torque, self.rules.limits.nv)
        if plain is not None and math.isfinite(sum(plain)):  # so is each of them
            return None
        torque = vector(proposal.torque, self.rules.limits.nv)
        if torque is None:
            return Fault(TORQUE_MALFORMED, f'the wanted torque must be {self.rules.limits.nv} '
                         f'numbers, got {shown(proposal.torque, 200)}')
        if not every(np.isfinite(torque)):
            return Fault(TORQUE_NOT_FINITE, f'the wanted torque is {torque.tolist()}')
        return None

    def _age_fault(self, age):
        limit = self.rules.settings.max_state_age
        if -limit <= age <= limit:
            return None
        when = f'{-age:.6g} s in the future' if age < 0.0 else f'{age:.6g} s old'
        return Fault(STATE_STALE, f'the joint state is {when}; max_state_age is {limit:g} s')

    def _jump(self, passed, position):
        """Return the Fault of a joint that got further than its velocity limit allows."""
        rules = self.rules
        moved = position - self.position
        allowed = rules.jump_speed * passed + rules.settings.jump_tolerance
        if not some(np.abs(moved) > allowed):
            return None
        turns = np.where(rules.limits.turning, TURN * np.round(moved / TURN), 0.0)
        moved = np.abs(moved - turns)
        if not some(moved > allowed):
            return None
        k = int(np.argmax(moved - allowed))
        return Fault(STATE_JUMP, f"joint '{rules.limits.names[k]}' moved by {moved[k]:.6g} in "
                     f'{passed:.6g} s; at most {allowed[k]:.6g} can be true')

    def _beyond(self):
        """Return the Fault of a joint well beyond a limit of position or velocity."""
        rules, names = self.rules, self.rules.limits.names
        excess = np.maximum(self.position - rules.upper, rules.lower - self.position)
        if some(excess > rules.tolerance):
            k = int(np.argmax(excess - rules.tolerance))
            return Fault(POSITION, f"joint '{names[k]}' is at {self.position[k]:.6g}, beyond its "
                         f'limits [{rules.lower[k]:g}, {rules.upper[k]:g}] by more than '
                         f'{rules.tolerance[k]:g}')
        if some(self.speed > rules.velocity_fault):
            k = int(np.argmax(self.speed - rules.velocity_fault))
            return Fault(VELOCITY, f"joint '{names[k]}' moves at {self.v[k]:.6g}; its limit is "
                         f'{rules.velocity[k]:g}, a fault from {rules.velocity_fault[k]:g} on')
        return None


def publisher_fault(proposal):
    """Return the Fault of not being alone on the command topic, or None."""
    if proposal.other_publisher:
        return Fault(OTHER_PUBLISHER, 'another publisher is on the command topic')
    return None
