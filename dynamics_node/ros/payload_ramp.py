"""What does the robot carry at this moment? Loads that come and go gently. Pure, clock given.

A load in transition counts with a share of its mass and inertia that goes linearly from 0 to 1, or
back to 0. A share of a rigid load is a rigid load, and so is the sum of two at one frame: the robot
stays physical all the way.

A load that has come and is replaced leaves in the time of that call, and no later call makes it
wait. One that is still coming and is replaced at the same frame is where the next one begins: so
loads that are set faster than they come are followed, as far behind as their transition takes.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.errors import UnknownName
from dynamics_node.model.model import Payload

# Loads that leave one frame within this share of their transition leave together, the earlier ones
# that much late: else there would be one more with each call.
TOGETHER = 1.0 / 8.0
NOTHING = 1e-12  # a smaller share is none; inertias of so little are all rounding


class Coming(NamedTuple):
    """A load on its way in; or there, once its time has passed."""

    load: Payload
    rest: Payload | None   # what it takes the place of, at the same frame: goes as it comes
    start: float           # [s]
    duration: float        # [s]
    begun: float = 0.0     # share at the start

    def share(self, now):
        return self.begun + _passed(self, now) * (1.0 - self.begun)

    def parts(self, now):
        """Return [load and what is left of the rest] as they count now."""
        rest = [] if self.rest is None else [scaled(self.rest, 1.0 - _passed(self, now))]
        return [scaled(self.load, self.share(now)), *rest]

    def sooner(self, duration, now):
        """Return it as it comes within a duration from now, if that is sooner."""
        if now + duration >= self.start + self.duration:
            return self
        rest = None if self.rest is None else scaled(self.rest, 1.0 - _passed(self, now))
        return Coming(self.load, rest, now, duration, self.share(now))


class Leaving(NamedTuple):
    """A load on its way out."""

    load: Payload          # as it counted at the start
    start: float           # [s]
    duration: float        # [s]
    promised: float        # [s] when the first part of it was to be gone

    @property
    def end(self):
        return self.start + self.duration

    def now(self, now):
        """Return the load as it counts now."""
        return scaled(self.load, 1.0 - _passed(self, now))

    def sooner(self, duration, now):
        """Return it as it leaves within a duration from now, if that is sooner."""
        if now + duration >= self.end:
            return self
        return Leaving(self.now(now), now, duration, min(self.promised, now + duration))


class PayloadRamps:
    """The loads by name. Each name has at most one that is held, and some on their way out."""

    def __init__(self):
        self._attached = {}     # name -> Coming
        self._leaving = {}  # name -> list of Leaving

    @property
    def attached(self):
        """{name: Payload} of what is held, or will be when all transitions have passed."""
        return {name: coming.load for name, coming in self._attached.items()}

    def set(self, name, load, duration, now):
        """Let a load come in, in place of the one of that name."""
        self._hurry(name, duration, now)
        old, rest = self._attached.get(name), None
        if old is not None and old.load == load:  # said once more: it need not begin anew
            self._attached[name] = old.sooner(duration, now)
            return
        if old is not None and old.load.frame == load.frame and _passed(old, now) < 1.0:
            rest = together(*old.parts(now))
        elif old is not None:
            self._let_go(name, old, duration, now)
        self._attached[name] = Coming(load, rest, now, duration)

    def remove(self, name, duration, now):
        """Let a load go."""
        if name not in self._attached:
            raise UnknownName('payload', name, self._attached)
        self._hurry(name, duration, now)
        self._let_go(name, self._attached.pop(name), duration, now)

    def settled(self, now):
        """Return whether no transition is under way."""
        self._forget(now)
        return not self._leaving and all(_passed(each,
                                                 now) == 1.0 for each in self._attached.values())

    def share(self, name, now):
        """Return how much of the held load counts now, 0 to 1."""
        return self._attached[name].share(now)

    def at(self, now):
        """Return {name: Payload} as they count now, those on their way out under other names."""
        self._forget(now)
        loads = {}
        for name, ramps in self._leaving.items():
            for ramp in ramps:
                loads[_free_name(name, self._attached, loads)] = ramp.now(now)
        for name, coming in self._attached.items():
            load, *rest = coming.parts(now)
            for part in rest if _passed(coming, now) < 1.0 else ():
                loads[_free_name(name, self._attached, loads)] = part
            loads[name] = load
        return loads

    def _hurry(self, name, duration, now):
        """Let what is leaving under a name be gone when a transition that begins now has passed."""
        self._forget(now)
        if name in self._leaving:
            self._leaving[name] = [ramp.sooner(duration, now) for ramp in self._leaving[name]]

    def _let_go(self, name, old, duration, now):
        """Let a load leave, together with one that leaves the frame at about the same time."""
        load, end, late = together(*old.parts(now)), now + duration, TOGETHER * duration
        ramps = self._leaving.setdefault(name, [])
        for k, ramp in enumerate(ramps):
            if ramp.load.frame == load.frame and 0.0 <= end - ramp.promised <= late:
                ramps[k] = Leaving(together(load, ramp.now(now)), now, duration, ramp.promised)
                break
        else:
            ramps.append(Leaving(load, now, duration, end))
        self._forget(now)

    def _forget(self, now):
        """Drop what has gone."""
        self._leaving = {name: left for name, ramps in self._leaving.items()
                         if (left := [ramp for ramp in ramps if now < ramp.end])}


def _passed(ramp, now):
    """Return which share of its time has passed, 0 to 1."""
    if now >= ramp.start + ramp.duration:
        return 1.0
    return max(0.0, now - ramp.start) / ramp.duration


def scaled(load, share):
    """Return that share of a load: of its mass and inertia, about the same centre of mass."""
    if share == 1.0:
        return load  # to the bit
    share = share if share > NOTHING else 0.0
    inertia = (share * np.array(load.inertia)).tolist()
    return Payload(load.frame, share * load.mass, load.com, tuple(map(tuple, inertia)))


def together(*loads):
    """Return the sum of loads at one frame."""
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


def _free_name(name, *taken):
    """Return a name that none of some dicts has: this one, or one that says that it is leaving."""
    free, k = name, 0
    while any(free in each for each in taken):
        k += 1
        free = f'{name} (leaving {k})'
    return free
