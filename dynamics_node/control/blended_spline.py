"""Blend a trajectory into the motion before it, and bring it to rest at its end."""

import numpy as np

from dynamics_node.control.spline import MotionSample, Spline

PER_SEGMENT = 8  # samples between two points, to check the limits there


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
    def blend(cls, joints: np.ndarray, spline: Spline, start: float, now: float,
              before: MotionSample, blend_time: float) -> 'BlendedSpline':
        """Return the spline that continues the motion `before` from now on."""
        end = start + spline.times[-1]
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

    def _requested(self, s):
        if s < self._first:
            return _accelerated(self._spline.at(float(self._first)), s - self._first)
        return self._spline.at(s)

    def sampled(self) -> tuple[np.ndarray, MotionSample]:
        """Return (seconds after `since`, the samples then) until rest, (T,) and (T, k)."""
        now = self._since - self._start
        knots = np.unique(np.maximum(now, [now, self._first, self._faded, *self._spline.times]))
        steps = np.diff(knots)[:, None] * np.linspace(0.0, 1.0, PER_SEGMENT, endpoint=False)
        s = np.append((knots[:-1, None] + steps).ravel(), knots[-1])
        early = np.minimum(s - self._first, 0.0)[:, None]
        parts = _accelerated(self._spline.at(np.maximum(s, self._first)), early)
        if self._fade is not None:
            parts = MotionSample(*(one + other for one, other in zip(parts, self._fade.at(s))))
        return s - now, parts


def _accelerated(motion, time):
    q, v, a = motion
    return MotionSample(q + (v + a * time / 2) * time, v + a * time, a)


def _stopped(spline, time):
    """Return the spline, brought to rest after its last point."""
    q, v, a = (part[-1:] for part in (spline.positions, spline.velocities, spline.accelerations))
    if not (v.any() or a.any()):
        return spline
    rest = MotionSample(q + v * time / 2, np.zeros_like(v), np.zeros_like(a))
    return Spline(np.append(spline.times, spline.times[-1] + time),
                  *(np.concatenate(parts) for parts in zip(
                      (spline.positions, spline.velocities, spline.accelerations), rest)))
