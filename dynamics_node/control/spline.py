"""Interpolate timed points smoothly, with missing derivatives filled in."""

import math
from bisect import bisect_right
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import at_least_zero, check_reals, check_times
from dynamics_node.control.cubic_slopes import clamped_slopes, free_slopes, second_derivatives
from dynamics_node.errors import DynamicsError, ModelError, shown

MOST_SAMPLES = 200_000  # of one trajectory
BLOCK = 500             # points computed at a time: small arrays stay in the cache of the processor


class MotionSample(NamedTuple):
    """Position, velocity and acceleration of a motion; (T, n) each for T times."""

    q: np.ndarray   # position, (n,) [rad or m]
    v: np.ndarray   # velocity, (n,) [rad/s or m/s]
    a: np.ndarray   # acceleration, (n,) [rad/s^2 or m/s^2]


class Spline:
    """The quintic between each two points, with their position, velocity and acceleration.

    Between t_k and t_k+1, with s = t - t_k,  q(t) = sum_j c_kj s^j,  j = 0 .. 5.
    Position, velocity and acceleration are continuous over the points, so the torque is too.
    Missing derivatives are filled in:

    * Velocities and accelerations given: nothing; polynomials up to degree 5 are exact.
    * Velocities only: the accelerations are the slope of the C2 cubic spline through the
      velocities, with not-a-knot ends, since the slope at the ends is unknown. So motions that are
      polynomials up to degree 4 are exact; with 3 points the velocity is a parabola (degree 3),
      with 2 a straight line (degree 2). Two points at rest give the minimum-jerk motion.
    * Positions only: the C2 cubic spline, at rest at both ends, since a joint's trajectory begins
      and ends at rest; 2 points give the cubic from rest to rest. (A quintic that has a cubic's
      values at both ends is that cubic.)
    * Accelerations only: refused; they do not determine a motion.

    Before the first point and after the last the motion rests at that position, v = a = 0. At these
    points it has their velocity and acceleration.
    Coordinates are interpolated one by one: quaternions would leave the unit sphere.

    :param times: (N,), strictly increasing [s].
    :param positions: (N, n) [rad or m].
    :param velocities: (N, n) [rad/s or m/s].
    :param accelerations: (N, n) [rad/s^2 or m/s^2].
    :raise DynamicsError: which argument is wrong, where, and what is valid.
    """

    def __init__(self, times: ArrayLike, positions: ArrayLike, velocities: ArrayLike | None = None,
                 accelerations: ArrayLike | None = None) -> None:
        times, *given = checked_points(times, positions, velocities, accelerations)
        with np.errstate(all='ignore'):  # what is not finite is refused below
            points = MotionSample(given[0], *_completed(times, *given))
            coefficients = _checked_quintics(times, *points)
        self._store(times, points, coefficients)

    def _store(self, times: np.ndarray, points: MotionSample, coefficients: np.ndarray) -> None:
        self._times, self._starts = times, times.tolist()
        self._points = points
        self._coefficients = coefficients
        for array in (times, *self._points):
            array.flags.writeable = False

    @property
    def times(self) -> np.ndarray:
        """The times of the points, (N,) [s]; read-only, like the points themselves."""
        return self._times

    @property
    def positions(self) -> np.ndarray:
        """The points, (N, n)."""
        return self._points.q

    @property
    def velocities(self) -> np.ndarray:
        """Velocity at the points, given or filled in, (N, n)."""
        return self._points.v

    @property
    def accelerations(self) -> np.ndarray:
        """Acceleration at the points, given or filled in, (N, n)."""
        return self._points.a

    def at(self, t: ArrayLike) -> MotionSample:
        """Return the MotionSample at time t; a single time costs microseconds.

        :param t: a time, or times (T,), in any order [s].
        """
        if not isinstance(t, float):
            t = check_reals('t', t, (), ('T',))
            if t.ndim:
                return self._at_many(t)
            t = float(t)
        starts = self._starts
        if not starts[0] <= t <= starts[-1]:
            return self._at_rest(t)
        k = bisect_right(starts, t) - 1
        q, v, a = _powers(t - starts[k]).dot(self._coefficients[k])   # faster than @
        return MotionSample(q, v, a)

    def _at_rest(self, t: float) -> MotionSample:
        if not math.isfinite(t):
            raise DynamicsError(f't is {t}; expected a finite time [s]')
        q = self._points.q[0 if t < self._starts[0] else -1]
        return MotionSample(q.copy(), np.zeros_like(q), np.zeros_like(q))

    def _at_many(self, t: np.ndarray) -> MotionSample:
        outside = (t < self._starts[0]) | (t > self._starts[-1])
        t = np.clip(t, self._starts[0], self._starts[-1])
        k = np.searchsorted(self._times, t, side='right') - 1
        q, v, a = (_rows(_powers(t - self._times[k])) @ self._coefficients[k]).swapaxes(0, 1)
        v[outside] = a[outside] = 0.0
        return MotionSample(q, v, a)


def followed_by(spline: Spline, time: float, point: MotionSample) -> Spline:
    """Return the spline with one more point, (1, n) each, at a time after the others [s]."""
    points = [np.vstack(pair) for pair in zip(spline._points, point)]
    times = np.append(spline._times, time)
    last = Spline(times[-2:], *(part[-2:] for part in points))
    other = object.__new__(Spline)
    other._store(times, MotionSample(*points),
                 np.concatenate([spline._coefficients[:-1], last._coefficients]))
    return other


def quintics_from(spline: Spline, starts: np.ndarray) -> np.ndarray:
    """Return the quintic of a spline from each start to the next point, (T, 6, n).

    It is  q = sum_j c_j s^j  with s counted from the start.

    :param starts: times (T,); from the last point on the motion rests.
    """
    times = spline._times
    k = np.maximum(np.searchsorted(times, starts, side='right') - 1, 0)
    c = spline._coefficients[k]
    c[(starts < times[0]) | (starts >= times[-1]), 1:] = 0.0
    return shifted(c, starts - times[k])


def checked_points(times: ArrayLike, positions: ArrayLike, velocities: ArrayLike | None = None,
                   accelerations: ArrayLike | None = None) -> list[np.ndarray]:
    """Return copies of the arguments of Spline that are given.

    :raise DynamicsError: which argument is wrong, where, and what is valid.
    """
    if accelerations is not None and velocities is None:
        raise DynamicsError('accelerations are given without velocities; expected both, '
                            'velocities only, or neither')
    times = check_times(times)
    points = [check_reals('positions', positions, (len(times), 'n'))]
    points += [check_reals(name, value, points[0].shape) for name, value in (
        ('velocities', velocities), ('accelerations', accelerations)) if value is not None]
    return [times, *points]


def times_between(times: ArrayLike, period: float) -> np.ndarray:
    """Return additional times between the points, a period apart, (T,) [s].

    :param period: [s]; zero for none.
    """
    try:
        times, period = check_times(times), at_least_zero('check_period', period)
    except ModelError:
        raise DynamicsError(f'check_period is {shown(period)}; expected zero or a positive time '
                            'in s') from None
    if period == 0.0:
        return np.empty(0)
    length = times[-1] - times[0]
    if length > period * MOST_SAMPLES:
        raise DynamicsError(f'check_period is {period} s over {length:g} s: more than '
                            f'{MOST_SAMPLES} samples; choose a longer one')
    return np.setdiff1d(np.arange(times[0], times[-1], period), times)


def _completed(times: np.ndarray, p: np.ndarray, v: np.ndarray | None = None,
               a: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the velocities and accelerations at the points, see Spline."""
    if v is not None and a is not None:
        return v, a
    if len(times) == 1:
        return np.zeros_like(p) if v is None else v, np.zeros_like(p)
    try:
        if v is not None:
            return v, free_slopes(times, v)
        slopes = clamped_slopes(times, p)
        return slopes, second_derivatives(times, p, slopes)
    except np.linalg.LinAlgError:  # the numbers overflow
        return np.full_like(p, np.nan), np.full_like(p, np.nan)


def _checked_quintics(times: np.ndarray, p: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return c_kj, (N, 6, n): per segment, and for the last point itself."""
    c = np.empty((len(times), 6, p.shape[1]))
    for first in range(0, len(times), BLOCK):
        part = slice(first, first + BLOCK + 1)   # its last point is the first of the next block
        c[part] = _quintics(times[part], p[part], v[part], a[part])
        _check_bounded(first, times[part], c[part])
    return c


def _quintics(times: np.ndarray, p: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return c_kj of some points, (N, 6, n): per segment, and for the last point itself.

    D, V / h and A / h^2 are q, v and a at the end of a segment less the part of c0, c1, c2. So
    c3 h^3 + c4 h^4 + c5 h^5 = D,   3 c3 h^3 + 4 c4 h^4 + 5 c5 h^5 = V,   and likewise A.
    """
    c = np.zeros((len(times), 6, p.shape[1]))
    c[:, 0], c[:, 1], c[:, 2] = p, v, a / 2
    h = np.repeat(np.diff(times)[:, None], p.shape[1], axis=1)   # NumPy broadcasts columns slowly
    h2 = h * h
    D = p[1:] - p[:-1] - (v[:-1] + a[:-1] / 2 * h) * h
    V = (v[1:] - v[:-1] - a[:-1] * h) * h
    A = (a[1:] - a[:-1]) * h2
    c[:-1, 3] = (10 * D - 4 * V + A / 2) / (h2 * h)
    c[:-1, 4] = (-15 * D + 7 * V - A) / (h2 * h2)
    c[:-1, 5] = (6 * D - 3 * V + A / 2) / (h2 * h2 * h)
    return c


def _check_bounded(first: int, times: np.ndarray, coefficients: np.ndarray) -> None:
    # |q| in a segment is at most sum |c_j| h^j, |v| and |a| the same sums of the derivatives.
    h = np.diff(times, append=times[-1])
    bound = _rows(_powers(h)) @ np.abs(coefficients)
    if not np.isfinite(bound).all():
        k = int(np.flatnonzero(~np.isfinite(bound).all(axis=(1, 2)))[0])
        raise DynamicsError(f'the motion from times[{first + k}] = {times[k]} to '
                            f'times[{first + k + 1}] = {times[k + 1]} is not finite: the values '
                            'are too large, or the times too close')


def shifted(c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return the coefficients of quintics, c (T, 6, n), with s counted from d later on, d (T,)."""
    late = np.flatnonzero(d)
    if late.size:
        part, d = c[late], d[late, None]
        for least in range(5):   # the rule of Horner and Ruffini
            for j in range(4, least - 1, -1):
                part[:, j] += d * part[:, j + 1]
        c[late] = part
    return c


def _powers(s: np.ndarray | float) -> np.ndarray:
    """Return the powers of s and their first and second derivatives, (3, 6) or (3, 6, T)."""
    s2 = s * s
    s3 = s2 * s
    s4 = s3 * s
    zero, one = 0.0 * s, 0.0 * s + 1.0
    return np.array([[one, s, s2, s3, s4, s4 * s],
                     [zero, one, 2.0 * s, 3.0 * s2, 4.0 * s3, 5.0 * s4],
                     [zero, zero, 2.0 * one, 6.0 * s, 12.0 * s2, 20.0 * s3]])


def _rows(powers: np.ndarray) -> np.ndarray:
    """Return (T, 3, 6) of (3, 6, T), in an order of the memory that BLAS multiplies."""
    return np.ascontiguousarray(np.moveaxis(powers, -1, 0))
