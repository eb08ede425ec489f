"""Blend a trajectory into the motion before it, and bring it to rest at its end."""

from collections.abc import Iterator

import numpy as np

from dynamics_node.control.spline import (
    MotionSample,
    Spline,
    followed_by,
    quintics_from,
    shifted,
)

FRACTIONS = np.arange(8) / 8  # of the time between two points: where the limits are checked
POWERS = FRACTIONS[:, None] ** np.arange(6)
RATES = np.arange(6) * FRACTIONS[:, None] ** [0, 0, 1, 2, 3, 4]   # derivatives of the powers
BLOCK = 500   # knots sampled at a time: small arrays stay in the processor's cache


class BlendedSpline:
    """A spline plus its difference from the motion before it, which fades out.

    Position, velocity and acceleration are continuous from `since` on, so the torque is too:

    * before the first point it moves with the acceleration of that point;
    * after the last point, if that is not at rest, it is stopped within the blend time T: from
      (q, v, a)  to  (q + v T/2, 0, 0); a steady velocity then decreases to zero without reversal.
      A motion that ends at rest stays exactly at its last point;
    * the difference (q, v, a) from the motion before fades to zero along a quintic.

    Before `since` it rests at the position of that time, so that a clock set back causes no motion.
    """

    def __init__(self, joints: np.ndarray, spline: Spline, start: float, since: float,
                 end: float) -> None:
        self.joints = joints         # indices of its joints in the reference
        self.columns = slice(None)   # columns of the spline in use
        self.end = end               # of the requested trajectory [s]
        self._spline, self._first = spline, spline.times[0]  # in seconds after start
        self._start, self._since = start, since
        self._fade: Spline | None = None   # the difference, until `_faded`
        self._faded = -np.inf

    @classmethod
    def hold(cls, q: np.ndarray, now: float) -> 'BlendedSpline':
        """Return the spline that rests at q and has no end."""
        return cls(np.arange(len(q)), Spline([0.0], q[None]), now, now, np.inf)

    @classmethod
    def stop(cls, q: np.ndarray, v: np.ndarray, rest: np.ndarray, now: float,
             time: float) -> 'BlendedSpline':
        """Return the spline that begins with q and v, rests after a time, and has no end."""
        result = cls.blend(np.arange(len(q)), Spline([0.0], rest[None]), now, now,
                           MotionSample(q, v, np.zeros_like(v)), time)
        result.end = np.inf
        return result

    @classmethod
    def blend(cls, joints: np.ndarray, spline: Spline, start: float, now: float,
              before: MotionSample, blend_time: float, held: bool = False) -> 'BlendedSpline':
        """Return the spline that continues the motion `before` from now on.

        :param held: whether it rests after its last point without an end.
        """
        end = np.inf if held else start + spline.times[-1]
        result = cls(joints, _stopped(spline, blend_time), start, now, end)
        s = now - start
        difference = [one - other for one, other in zip(before, result._requested(s))]
        if any(part.any() for part in difference):
            result._faded = s + blend_time
            result._fade = Spline([s, result._faded],
                                  *([part, np.zeros_like(part)] for part in difference))
        return result

    def select(self, mask: np.ndarray) -> 'BlendedSpline | None':
        """Return the spline of the columns in a mask, None if there are none."""
        if mask.all():
            return self
        if not mask.any():
            return None
        other = object.__new__(BlendedSpline)
        vars(other).update(vars(self), joints=self.joints[mask],
                           columns=np.arange(len(self._spline.positions[0]))[self.columns][mask])
        return other

    @property
    def rest(self) -> float:
        """The time from which it is at rest [s]."""
        return self._start + max(self._spline.times[-1], self._faded)

    def at(self, now: float) -> MotionSample:
        """Return the MotionSample of its columns."""
        if now < self._since:
            q = self.at(self._since).q
            return MotionSample(q, np.zeros_like(q), np.zeros_like(q))
        s = now - self._start
        motion = self._requested(s)
        if self._fade is not None and s < self._faded:
            fading = self._fade.at(s)
            motion = MotionSample(*(one + other for one, other in zip(motion, fading)))
        if isinstance(self.columns, slice):
            return motion
        return MotionSample(*(part[self.columns] for part in motion))

    def _requested(self, s: float) -> MotionSample:
        if s < self._first:
            return _accelerated(self._spline.at(float(self._first)), s - self._first)
        return self._spline.at(s)

    def sampled(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield blocks of samples until rest, one row per knot and the time after it.

        Each has the seconds after `since`, (T, m), position and velocity, (T, m, n).
        """
        now = self._since - self._start
        knots = np.concatenate([[now, self._first, self._faded], self._spline.times])
        knots = np.unique(np.maximum(now, knots))
        lengths = np.diff(knots, append=knots[-1] + 1.0)   # at rest after the last
        for first in range(0, len(knots), BLOCK):
            starts, h = (part[first:first + BLOCK, None] for part in (knots, lengths))
            c = self._quintics(starts[:, 0])
            c *= np.vander(h[:, 0], 6, increasing=True)[:, :, None]   # of s / h instead of s
            yield starts - now + h * FRACTIONS, POWERS @ c, (RATES @ c) / h[:, :, None]

    def _quintics(self, starts: np.ndarray) -> np.ndarray:
        """Return the quintic from each start to the next knot, see quintics_from."""
        c = quintics_from(self._spline, np.maximum(starts, self._first))
        early, fading = starts < self._first, starts < self._faded
        c[early, 3:] = 0.0
        shifted(c, np.minimum(starts - self._first, 0.0))
        if self._fade is not None:
            c[fading] += quintics_from(self._fade, starts[fading])
        return c


def _accelerated(motion: MotionSample, time: float) -> MotionSample:
    q, v, a = motion
    return MotionSample(q + (v + a * time / 2) * time, v + a * time, a)


def _stopped(spline: Spline, time: float) -> Spline:
    """Return the spline, brought to rest after its last point."""
    q, v, a = (part[-1:] for part in (spline.positions, spline.velocities, spline.accelerations))
    if not (v.any() or a.any()):
        return spline
    rest = MotionSample(q + v * time / 2, np.zeros_like(v), np.zeros_like(a))
    return followed_by(spline, spline.times[-1] + time, rest)
