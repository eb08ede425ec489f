"""Sample the reference of the joints: a trajectory, blended into the next, held at its end."""

import math
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import check_kind, check_reals, flag
from dynamics_node.control.blended_spline import BlendedSpline
from dynamics_node.control.reference_limits import MAX_START_ERROR, ReferenceLimits
from dynamics_node.control.slowed_spline import SlowedSpline
from dynamics_node.control.spline import MotionSample, Spline, checked_points
from dynamics_node.errors import DynamicsError, shown


class Reference:
    """The motion that the laws follow. Immutable; a new trajectory makes a new one.

    Position, velocity and acceleration never jump, since the torque would jump with them. A
    trajectory that cannot be joined smoothly in the time left is refused, and the present
    reference goes on.

    Times are seconds of one clock. Count them from a recent moment: a float of seconds since 1970
    has a resolution of only 0.24 microseconds.
    """

    def __init__(self, limits: ReferenceLimits,
                 splines: tuple[BlendedSpline | SlowedSpline, ...]) -> None:
        """Store the parts. Use `hold` to create the first reference."""
        self._limits, self._splines = limits, splines
        self._in_order = (len(splines) == 1
                          and splines[0].joints.tolist() == list(range(len(limits.names))))

    @classmethod
    def hold(cls, q: ArrayLike, now: float, limits: ReferenceLimits) -> 'Reference':
        """Return the reference that rests at q.

        :param q: (n,), usually the measured position.
        :param limits: for the trajectories that will replace it.
        """
        now = _time('now', now)
        check_kind('limits', limits, ReferenceLimits)
        q = check_reals('q', q, (len(limits.names),))
        return cls(limits, (BlendedSpline.hold(q, now),))

    @classmethod
    def stop(cls, q: ArrayLike, v: ArrayLike, now: float, limits: ReferenceLimits) -> 'Reference':
        """Return the reference that begins with q and v and rests after the blend time.

        :param q, v: (n,), usually measured. It rests within the limits of position.
        """
        now = _time('now', now)
        check_kind('limits', limits, ReferenceLimits)
        n = len(limits.names)
        q, v = check_reals('q', q, (n,)), check_reals('v', v, (n,))
        rest = q + 0.5 * limits.blend_time * v
        rest = np.clip(rest, np.minimum(limits.lower, q), np.maximum(limits.upper, q))
        return cls(limits, (BlendedSpline.stop(q, v, rest, now, limits.blend_time),))

    def replaced_by(self, times: ArrayLike, positions: ArrayLike,
                    velocities: ArrayLike | None = None, accelerations: ArrayLike | None = None, *,
                    start: float, now: float, joints: ArrayLike | None = None,
                    held: bool = False) -> 'Reference':
        """Return the reference that follows a trajectory from now on.

        The part before now is skipped: the motion joins the trajectory at its present point. If the
        first point is the blend time T or more ahead, the motion goes there from the present
        reference, as in ros2_controllers. If it is nearer, the difference at the first point must
        be small (`max_start_error`), and fades out over T. A stream of points a few ms ahead is
        thus followed as by a filter of third order: 0.6 T late without velocities, with an error of
        0.15 T^2 times the acceleration if only accelerations are left out, without delay if all are
        given. Positions of joints that turn without end are shifted by whole turns towards their
        present position.

        :param times: (N,) after start, strictly increasing [s].
        :param positions, velocities, accelerations: (N, k), see Spline for what may be left out.
        :param start: time zero of the trajectory [s].
        :param joints: joints of the columns, (k,) integers; the others go on as before.
        :param held: whether its last point is held for ever: it has age 0 then.
        :raise DynamicsError: the trajectory is malformed, over already, starts too far off, or
            exceeds a limit; the message names the joint, the time and what is valid.
        """
        start, now, held = _time('start', start), _time('now', now), flag('held', held)
        columns = self._checked_joints(joints)
        times, *parts = checked_points(times, positions, velocities, accelerations)
        if parts[0].shape[1] != len(columns):
            raise DynamicsError(f'positions must have shape (N, {len(columns)}), got '
                                f'{parts[0].shape}')
        if start + times[-1] < now:
            raise DynamicsError(f'the trajectory was over {now - start - times[-1]:.3g} s '
                                'ago; expected one that ends later than now')
        spline = self._blended(columns, times, parts, start, now, held)
        self._limits.check_limits(columns, spline.sampled())
        others = (old.select(~np.isin(old.joints, columns)) for old in self._splines)
        return Reference(self._limits, (*(each for each in others if each is not None), spline))

    def stopped(self, now: float, joints: ArrayLike | None = None) -> 'Reference':
        """Return the reference that slows down along its path, and rests after the blend time.

        :param joints: joints that stop, (k,) integers; None: all. The others go on as before.
        """
        now, columns = _time('now', now), self._checked_joints(joints)
        splines: list[BlendedSpline | SlowedSpline | None] = []
        for spline in self._splines:
            stops = np.isin(spline.joints, columns)
            stopping = spline.select(stops)
            if isinstance(stopping, BlendedSpline):   # else it is slowed down already, or None
                stopping = SlowedSpline(stopping, now, self._limits.blend_time)
            splines += [spline.select(~stops), stopping]
        return Reference(self._limits, tuple(each for each in splines if each is not None))

    def resting_at(self, q: ArrayLike, now: float) -> 'Reference':
        """Return the reference that stops, then goes to q and rests there.

        The way to q takes the blend time; if it is longer than MAX_START_ERROR, the time is longer
        in the same ratio.

        :param q: (n,), usually the measured position, where the joints could not follow.
        """
        now, limits = _time('now', now), self._limits
        T, every, present = limits.blend_time, np.arange(len(limits.names)), self.at(now)
        stop = np.clip(present.q + present.v * T / 2, np.minimum(limits.lower, present.q),
                       np.maximum(limits.upper, present.q))
        end = check_reals('q', q, (len(limits.names),))
        end = end + limits.whole_turns(every, stop - end)
        way, zero = T * max(1.0, float(np.abs(end - stop).max()) / MAX_START_ERROR), 0.0 * end
        spline = Spline([0.0, T, T + way], np.array([present.q, stop, end]),
                        np.array([present.v, zero, zero]), np.array([present.a, zero, zero]))
        return Reference(limits, (BlendedSpline(every, spline, now, now, np.inf),))

    @property
    def newest(self) -> BlendedSpline | SlowedSpline:
        """The motion that was started last."""
        return self._splines[-1]

    def has(self, spline: BlendedSpline) -> bool:
        """Return whether a motion is still followed by all its joints."""
        return any(each is spline for each in self._splines)

    def error(self, joints: np.ndarray, wanted: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Return wanted - q of some joints, (k,); the shorter way round where they turn freely."""
        difference = wanted - q
        return difference - self._limits.whole_turns(joints, difference)

    def at(self, now: float) -> MotionSample:
        """Return the MotionSample at a time, (n,) each."""
        now = _time('now', now)
        if self._in_order:
            return self._splines[0].at(now)
        n = len(self._limits.names)
        whole = MotionSample(np.empty(n), np.empty(n), np.empty(n))
        for spline in self._splines:
            for part, value in zip(whole, spline.at(now)):
                part[spline.joints] = value
        return whole

    def done(self, now: float) -> bool:
        """Return whether the reference is at rest from now on."""
        now = _time('now', now)
        return all(now >= spline.rest for spline in self._splines)

    def age(self, now: float) -> float:
        """Return the time since the last point of the trajectory, 0 before it [s].

        With several trajectories (one per arm, say) it is the age of the one that ended first. A
        reference made by `hold` has age 0. Limit this age where references are streams; leave it
        unlimited where the end of a trajectory may be held for ever.
        """
        now = _time('now', now)
        return max(0.0, *(now - spline.end for spline in self._splines))

    def _blended(self, joints: np.ndarray, times: np.ndarray, parts: list[np.ndarray],
                 start: float, now: float, held: bool) -> BlendedSpline:
        """Return the BlendedSpline of a trajectory that replaces the reference now.

        :param parts: positions, velocities, accelerations, as far as they are given.
        """
        limits, first = self._limits, float(times[0])
        present = MotionSample(*(part[joints] for part in self.at(now)))
        if start + first - now >= limits.blend_time:   # there is time to get to the first point
            turns = limits.whole_turns(joints, parts[0][0] - self.at(start + first).q[joints])
            parts[0] -= turns
            points = Spline(np.append(now - start, times),
                            *(np.vstack([one, part]) for one, part in zip(present, parts)))
        else:
            points = Spline(times, *parts)
            meeting = max(now - start, first)   # the first time that both motions have
            error = points.at(meeting).q - self.at(start + meeting).q[joints]
            turns = limits.whole_turns(joints, error)
            limits.check_start(joints, error - turns)
            if turns.any():
                points = Spline(times, parts[0] - turns, *parts[1:])
        return BlendedSpline.blend(joints, points, start, now, present, limits.blend_time, held)

    def _checked_joints(self, joints: ArrayLike | None) -> np.ndarray:
        n = len(self._limits.names)
        try:
            array = np.arange(n) if joints is None else np.asarray(joints)
        except Exception:  # an object may raise anything when NumPy reads it
            array = np.empty(0)
        if (array.ndim != 1 or array.dtype.kind not in 'iu' or len(np.unique(array)) != len(array)
                or not ((array >= 0) & (array < n)).all() or not array.size):
            raise DynamicsError(f'joints is {shown(joints)}; expected different integers from '
                                f'0 to {n - 1}')
        return array


def _time(name: str, value: float) -> float:
    if type(value) is float and math.isfinite(value):   # in every control cycle
        return value
    if isinstance(value, (int, float)) and -math.inf < value < math.inf:
        with suppress(OverflowError):  # an integer too large for a float
            return float(value)
    raise DynamicsError(f'{name} is {shown(value)}; expected a finite time [s]')
