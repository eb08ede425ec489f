"""How much time has passed? Calls bring the time; a clock that jumps is found out here."""

import math

from dynamics_node.safety.faults import CLOCK, Fault


class Clock:
    """Turn the `now` of each call into the time since the one before.

    After a jump the time goes on from where the clock is then; of the jump nothing has passed.
    """

    def __init__(self, max_step):
        self.max_step = max_step
        self._now = None

    def stop(self):
        """Forget the time: the next call begins anew."""
        self._now = None

    def advance(self, now):
        """Return (seconds since the last call, None), or (0, a Fault) after a jump."""
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
