"""From one torque to another in a given time."""

import math
from typing import NamedTuple

import numpy as np


class TorqueRamp(NamedTuple):
    """A torque that stays for a while and then goes to a target, which may move."""

    start: np.ndarray     # (nv,)
    duration: float       # [s]
    hold: float = 0.0     # [s] before it

    def share(self, elapsed):
        """Return how much of the way is done after that many seconds, 0 to 1."""
        if elapsed >= self.hold + self.duration:
            return 1.0
        return (elapsed - self.hold) / self.duration if elapsed > self.hold else 0.0

    def towards(self, target, elapsed):
        """Return the torque after that many seconds, between start and target."""
        share = self.share(elapsed)
        if share == 1.0:
            return target  # to the bit
        torque = (1.0 - share) * self.start + share * target
        # rounding must not carry it past either end, where a limit may be
        return np.minimum(np.maximum(torque, np.minimum(self.start, target)),
                          np.maximum(self.start, target))


def stairs(start, end, duration, slew, period):
    """Return torques `period` apart that go from start to end, both included, [(nv,)].

    :param duration: that it takes [s], longer if the slew limits demand it.
    :param slew: (nv,) [N m/s or N/s]; where it is zero, start and end are the same.
    """
    change = np.abs(end - start)
    moving = change > 0.0
    duration = max([duration, *(change[moving] / slew[moving])])
    count = max(1, math.ceil(duration / period))
    ramp = TorqueRamp(start, float(count))
    return [ramp.towards(end, k) for k in range(count + 1)]
