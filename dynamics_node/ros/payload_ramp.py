"""What does the robot carry at this moment? Loads that come and go gently. Pure, clock given.

A load in transition counts with a share of its mass and inertia that goes linearly from 0 to 1, or
back to 0. A share of a rigid load is a rigid load, so the robot stays physical all the way.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.errors import UnknownName
from dynamics_node.model.model import Payload


class Ramp(NamedTuple):
    """A load whose share goes from one value to another."""

    load: Payload
    start: float      # [s]
    duration: float   # [s]
    from_share: float
    to_share: float

    def share(self, now):
        if now >= self.start + self.duration:
            return self.to_share
        passed = max(0.0, now - self.start) / self.duration
        return self.from_share + passed * (self.to_share - self.from_share)

    def towards(self, share, duration, now):
        return Ramp(self.load, now, duration, self.share(now), share)


class PayloadRamps:
    """The loads by name. Each name has the one that is held and those on their way out."""

    def __init__(self):
        self._ramps = {}  # name -> list of Ramp, the held one last

    @property
    def held(self):
        """{name: Payload} of what is held, or will be when all transitions have passed."""
        return {name: ramps[-1].load for name, ramps in self._ramps.items()
                if ramps[-1].to_share > 0.0}

    def set(self, name, load, duration, now):
        """Let a load come in, in place of the one of that name."""
        self._let_go(name, duration, now)
        self._ramps.setdefault(name, []).append(Ramp(load, now, duration, 0.0, 1.0))

    def remove(self, name, duration, now):
        """Let a load go."""
        if name not in self.held:
            raise UnknownName('payload', name, self.held)
        self._let_go(name, duration, now)

    def settled(self, now):
        """Return whether no transition is under way."""
        return all(now >= ramp.start + ramp.duration
                   for ramps in self._ramps.values() for ramp in ramps)

    def share(self, name, now):
        """Return how much of the held load counts now, 0 to 1."""
        return self._ramps[name][-1].share(now)

    def at(self, now):
        """Return {name: Payload} as they count now, those on their way out under other names."""
        self._forget(now)
        loads = {}
        for name, ramps in self._ramps.items():
            *leaving, newest = ramps
            for ramp in leaving:
                loads[_free_name(name, {*self._ramps, *loads})] = scaled(ramp.load, ramp.share(now))
            loads[name] = scaled(newest.load, newest.share(now))
        return loads

    def _let_go(self, name, duration, now):
        self._forget(now)
        if name in self._ramps:
            self._ramps[name] = [ramp.towards(0.0, duration, now) for ramp in self._ramps[name]]
            self._forget(now)

    def _forget(self, now):
        """Drop what has gone."""
        for name in list(self._ramps):
            left = [ramp for ramp in self._ramps[name]
                    if ramp.to_share > 0.0 or now < ramp.start + ramp.duration]
            if left:
                self._ramps[name] = left
            else:
                del self._ramps[name]


def scaled(load, share):
    """Return that share of a load: of its mass and inertia, about the same centre of mass."""
    if share == 1.0:
        return load  # to the bit
    inertia = (share * np.array(load.inertia)).tolist()
    return Payload(load.frame, share * load.mass, load.com, tuple(map(tuple, inertia)))


def _free_name(name, taken):
    k = 1
    while f'{name} (leaving {k})' in taken:
        k += 1
    return f'{name} (leaving {k})'
