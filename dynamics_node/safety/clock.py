"""Measure the time between calls from their `now` argument; detect a clock that jumps."""

import math
from collections.abc import Callable

from dynamics_node.safety.faults import CLOCK, Fault

SteadyTime = Callable[[], float | None]


class Clock:
    """Compute the time since the previous call from the `now` of each call.

    A step longer than max_step is a jump, unless the steady clock has made it too: then the caller
    was late. After a jump the time continues from the new value; the jump itself counts as zero
    seconds.
    """

    def __init__(self, max_step: float, steady: SteadyTime = lambda: None) -> None:
        """Begin without a time.

        :param steady: returns the time of a clock that is never set [s]; None: there is none, as
            for simulated time.
        """
        self.max_step, self._steady = max_step, steady
        self._now: float | None = None
        self._steady_now: float | None = None

    def stop(self) -> None:
        """Forget the time: the next call begins anew."""
        self._now = None

    def advance(self, now: float) -> tuple[float, Fault | None]:
        """Return (seconds since the last call, None), or (0, a Fault) after a jump."""
        now = float(now)   # sums with a NumPy scalar are slow
        before, self._now = self._now, now if math.isfinite(now) else None
        steady_before, self._steady_now = self._steady_now, self._steady()
        if self._now is None:
            return 0.0, Fault(CLOCK, f'the time is {now}')
        if before is None:
            return 0.0, None
        passed = now - before
        if passed < 0.0:
            return 0.0, Fault(CLOCK, f'the clock went back by {-passed:.6g} s')
        if passed > self.max_step:
            late = 0.0   # the caller, by the steady clock
            if steady_before is not None and self._steady_now is not None:
                late = self._steady_now - steady_before
            if passed - late > self.max_step:
                return 0.0, Fault(CLOCK, f'the clock jumped forward by {passed - late:.6g} s, '
                                  f'more than {self.max_step:g} s')
        return passed, None
