"""Slow a motion down to rest, along its own path."""

from __future__ import annotations

import math

import numpy as np

from dynamics_node.control.blended_spline import BlendedSpline
from dynamics_node.control.spline import MotionSample


class SlowedSpline:
    """A BlendedSpline whose time slows down, so that it rests after a time T.

    With u the time since the stop began, from 0 to 1 in units of T, the motion r is passed through
    at the rate s', from 1 to 0:

        q = r(s),   v = r' s',   a = r'' s'^2 + r' s'',
        s' = 1 - 3 u^2 + 2 u^3,   s = T (u - u^3 + u^4 / 2).

    Position, velocity and acceleration are continuous. The path is that of the motion, of which
    another T / 2 is passed, and no joint becomes faster: what was within the limits stays there. A
    steady velocity v decreases by at most 1.5 v / T.

    It is held without end: `end` is infinite.
    """

    def __init__(self, spline: BlendedSpline, now: float, duration: float) -> None:
        """Begin to slow down now.

        :param duration: T, above zero [s].
        """
        self.joints, self.end = spline.joints, math.inf
        self._spline, self._since, self._duration = spline, now, duration

    @property
    def rest(self) -> float:
        """The time from which it is at rest [s]."""
        return self._since + self._duration

    def at(self, now: float) -> MotionSample:
        """Return the MotionSample of its joints."""
        T = self._duration
        u = min(max((now - self._since) / T, 0.0), 1.0)
        s = T * (u - u**3 + u**4 / 2)
        rate, change = 1.0 - (3.0 - 2.0 * u) * u * u, -6.0 * u * (1.0 - u) / T
        q, v, a = self._spline.at(self._since + s)
        return MotionSample(q, v * rate, a * rate**2 + v * change)

    def select(self, mask: np.ndarray) -> SlowedSpline | None:
        """Return the motion of the joints in a mask, None if there are none."""
        part = self._spline.select(mask)
        return None if part is None else SlowedSpline(part, self._since, self._duration)
