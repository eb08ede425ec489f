"""Compute ramps from one torque to another in a given time."""

import math
from collections.abc import Sequence
from typing import NamedTuple


class TorqueRamp(NamedTuple):
    """A torque that is first held, then goes linearly to a target, which may change."""

    start: Sequence[float]   # nv entries
    duration: float          # [s]
    hold: float = 0.0        # [s] before it

    def share(self, elapsed: float) -> float:
        """Return the completed part of the ramp after `elapsed` seconds, 0 to 1."""
        if elapsed >= self.hold + self.duration:
            return 1.0
        return (elapsed - self.hold) / self.duration if elapsed > self.hold else 0.0

    def towards(self, target: Sequence[float], elapsed: float) -> Sequence[float]:
        """Return the torque after `elapsed` seconds, between start and target."""
        share = self.share(elapsed)
        if share == 1.0:
            return target  # to the bit
        torque = []
        for a, b in zip(self.start, target):
            x = (1.0 - share) * a + share * b
            # rounding must not move it past an end, which may be a limit
            least, most = (a, b) if a < b else (b, a)
            torque.append(most if x > most else least if x < least else x)
        return torque


def torque_steps(start: Sequence[float], end: Sequence[float], duration: float,
                 slew: Sequence[float], period: float) -> list[Sequence[float]]:
    """Return torques `period` apart that go from start to end, both included.

    :param duration: time of the whole ramp [s]; longer if the slew limits require it.
    :param slew: nv entries [N m/s or N/s]; where one is zero, start and end are the same.
    """
    for a, b, rate in zip(start, end, slew):
        if a != b:
            duration = max(duration, abs(b - a) / rate)
    count = max(1, math.ceil(duration / period))
    ramp = TorqueRamp(start, float(count))
    return [ramp.towards(end, k) for k in range(count + 1)]
