"""Compute the effective payloads at any time, with linear transitions. Independent of ROS.

In a transition, a share of the mass and inertia of a payload is effective. It goes linearly from 0
to 1, or back to 0. A share of a rigid payload is a rigid payload, and so is the sum of two at one
frame: the robot is physically consistent at any time.

If a complete payload is replaced, it ramps out in the duration of that call; later calls do not
extend this ramp. If a payload is replaced at the same frame while it still ramps in, the next ramp
begins at its current value: payloads that change faster than their transition are followed late, by
about one transition.
"""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

import numpy as np

from dynamics_node.errors import UnknownName
from dynamics_node.model.model import Payload

# Ramps out at one frame that end within this share of a transition are merged, and the earlier ones
# end that much later: otherwise each call would add one more ramp.
MERGED_WITHIN = 1.0 / 8.0
NOTHING = 1e-12  # a smaller share is set to zero: inertias this small are rounding errors


class RampIn(NamedTuple):
    """A payload that ramps in, or is complete once its duration has passed."""

    load: Payload
    rest: Payload | None   # the payload that it replaces at the same frame: ramps out meanwhile
    start: float           # [s]
    duration: float        # [s]
    begun: float = 0.0     # share at the start

    def share(self, now: float) -> float:
        """Return the share that is effective now, 0 to 1."""
        return self.begun + _passed(self, now) * (1.0 - self.begun)

    def parts(self, now: float) -> list[Payload]:
        """Return [payload, remaining rest] as they are effective now."""
        rest = [] if self.rest is None else [scaled(self.rest, 1.0 - _passed(self, now))]
        return [scaled(self.load, self.share(now)), *rest]

    def ending_within(self, duration: float, now: float) -> RampIn:
        """Return the ramp that ends a duration from now, or this one if it ends before."""
        if now + duration >= self.start + self.duration:
            return self
        rest = None if self.rest is None else scaled(self.rest, 1.0 - _passed(self, now))
        return RampIn(self.load, rest, now, duration, self.share(now))


class RampOut(NamedTuple):
    """A payload that ramps out."""

    load: Payload          # as it was effective at the start
    start: float           # [s]
    duration: float        # [s]
    promised: float        # [s] end of the ramp before others were merged into it

    @property
    def end(self) -> float:
        """Time at which the payload is gone [s]."""
        return self.start + self.duration

    def now(self, now: float) -> Payload:
        """Return the payload as it is effective now."""
        return scaled(self.load, 1.0 - _passed(self, now))

    def ending_within(self, duration: float, now: float) -> RampOut:
        """Return the ramp that ends a duration from now, or this one if it ends before."""
        if now + duration >= self.end:
            return self
        return RampOut(self.now(now), now, duration, min(self.promised, now + duration))


class PayloadRamps:
    """Payloads by name. Each name has at most one attached payload, and some that ramp out."""

    def __init__(self) -> None:
        self._attached: dict[str, RampIn] = {}
        self._leaving: dict[str, list[RampOut]] = {}

    def copy(self) -> PayloadRamps:
        """Return a copy that changes independently."""
        other = PayloadRamps()
        other._attached = dict(self._attached)
        other._leaving = {name: list(ramps) for name, ramps in self._leaving.items()}
        return other

    def same_as(self, other: PayloadRamps) -> bool:
        """Return whether others have the same payloads in the same transitions."""
        return (self._attached, self._leaving) == (other._attached, other._leaving)

    @property
    def attached(self) -> dict[str, Payload]:
        """{name: Payload} after all transitions."""
        return {name: ramp.load for name, ramp in self._attached.items()}

    def set(self, name: str, load: Payload, duration: float, now: float) -> None:
        """Attach a payload in place of the one with that name."""
        self._end_within(name, duration, now)
        old, rest = self._attached.get(name), None
        if old is not None and old.load == load:  # repeated: the ramp does not start again
            self._attached[name] = old.ending_within(duration, now)
            return
        if old is not None and old.load.frame == load.frame and _passed(old, now) < 1.0:
            rest = combined(*old.parts(now))
        elif old is not None:
            self._ramp_out(name, old, duration, now)
        self._attached[name] = RampIn(load, rest, now, duration)

    def remove(self, name: str, duration: float, now: float) -> None:
        """Remove a payload."""
        if name not in self._attached:
            raise UnknownName('payload', name, self._attached)
        self._end_within(name, duration, now)
        self._ramp_out(name, self._attached.pop(name), duration, now)

    def settled(self, now: float) -> bool:
        """Return whether no transition is under way."""
        self._drop_ended(now)
        return not self._leaving and all(_passed(ramp, now) == 1.0
                                         for ramp in self._attached.values())

    def share(self, name: str, now: float) -> float:
        """Return the share of an attached payload that is effective now, 0 to 1."""
        return self._attached[name].share(now)

    def at(self, now: float) -> dict[str, Payload]:
        """Return {name: Payload} as effective now; payloads that ramp out get other names."""
        self._drop_ended(now)
        loads: dict[str, Payload] = {}
        for name, ramps in self._leaving.items():
            for ramp in ramps:
                loads[_free_name(name, self._attached, loads)] = ramp.now(now)
        for name, attached in self._attached.items():
            load, *rest = attached.parts(now)
            for part in rest if _passed(attached, now) < 1.0 else ():
                loads[_free_name(name, self._attached, loads)] = part
            loads[name] = load
        return loads

    def _end_within(self, name: str, duration: float, now: float) -> None:
        """Shorten the ramps out of a name that would end later than a duration from now."""
        self._drop_ended(now)
        if name in self._leaving:
            self._leaving[name] = [ramp.ending_within(duration, now)
                                   for ramp in self._leaving[name]]

    def _ramp_out(self, name: str, old: RampIn, duration: float, now: float) -> None:
        """Ramp a payload out; merge it with a ramp of that frame that ends at about that time."""
        load, end, late = combined(*old.parts(now)), now + duration, MERGED_WITHIN * duration
        ramps = self._leaving.setdefault(name, [])
        for k, ramp in enumerate(ramps):
            if ramp.load.frame == load.frame and 0.0 <= end - ramp.promised <= late:
                ramps[k] = RampOut(combined(load, ramp.now(now)), now, duration, ramp.promised)
                break
        else:
            ramps.append(RampOut(load, now, duration, end))
        self._drop_ended(now)

    def _drop_ended(self, now: float) -> None:
        """Drop the ramps out that have ended."""
        self._leaving = {name: left for name, ramps in self._leaving.items()
                         if (left := [ramp for ramp in ramps if now < ramp.end])}


def _passed(ramp: RampIn | RampOut, now: float) -> float:
    """Return the share of the duration that has passed, 0 to 1."""
    if now >= ramp.start + ramp.duration:
        return 1.0
    return max(0.0, now - ramp.start) / ramp.duration


def scaled(load: Payload, share: float) -> Payload:
    """Return a payload with a share of the mass and inertia, about the same centre of mass."""
    if share == 1.0:
        return load  # to the bit
    share = share if share > NOTHING else 0.0
    inertia = (share * np.array(load.inertia)).tolist()
    return Payload(load.frame, share * load.mass, load.com, tuple(map(tuple, inertia)))


def combined(*loads: Payload) -> Payload:
    """Return the sum of payloads at one frame."""
    if len(loads) == 1:
        return loads[0]
    mass = sum(load.mass for load in loads)
    centres = np.array([load.com for load in loads])
    com = centres[0] if mass == 0.0 else sum(
        load.mass / mass * centre for load, centre in zip(loads, centres))
    inertia = np.zeros((3, 3))
    for load, centre in zip(loads, centres):
        off = centre - com
        inertia += np.array(load.inertia) + load.mass * (off @ off * np.eye(3) - np.outer(off, off))
    return Payload(loads[0].frame, mass, tuple(com.tolist()), tuple(map(tuple, inertia.tolist())))


def _free_name(name: str, *taken: Container[str]) -> str:
    """Return a name that is not taken: this one, or one with '(leaving k)'."""
    free, k = name, 0
    while any(free in each for each in taken):
        k += 1
        free = f'{name} (leaving {k})'
    return free
