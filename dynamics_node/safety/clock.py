"""Measure the time between calls from their `now` argument; detect a clock that jumps."""

import math

from dynamics_node.safety.faults import CLOCK, Fault


class Clock:
    """Compute the time since the previous call from the `now` of each call.

    After a jump the time continues from the new value; the jump itself counts as zero seconds.
    """

    def __init__(self, max_step: float) -> None:
        self.max_step = max_step
        self._now: float | None = None

    def stop(self) -> None:
        """Forget the time: the next call begins anew."""
        self._now = None

    def advance(self, now: float) -> tuple[float, Fault | None]:
        """Return (seconds since the last call, None), or (0, a Fault) after a jump."""
        now = float(now)   # sums with a NumPy scalar are slow
        before, self._now = self._now, now if math.isfinite(now) else None
        if self._now is None:
            return 0.0, Fault(CLOCK, f'the time is {now}')
        if before is None:
            return 0.0, None
        passed = now - before
        if passed < 0.0:
            return 0.0, Fault(CLOCK, f'the clock went back by {-passed:.6g} s')
        if passed > self.max_step:
            return 0.0, Fault(CLOCK, f'the clock jumped forward by {passed:.6g} s, more than '
                              f'{self.max_step:g} s')
        return passed, None
