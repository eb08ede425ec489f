"""Compute acceleration bounds that keep joints within position and velocity limits.

For a controller of fixed period, over which the acceleration is constant. Del Prete 2018, 'Joint
position and velocity bounds in discrete-time acceleration/torque control'.
"""

import numpy as np

from dynamics_node.spatial.select import Number, is_positive, larger, select, smaller

NEVER = 1e-12  # smallest distance to a limit that is used as a divisor [rad or m]
FAR = 1e12     # distance to an absent limit [rad or m]


def acceleration_limits(q: np.ndarray, v: np.ndarray, lower: np.ndarray, upper: np.ndarray,
                        max_velocity: np.ndarray, max_acceleration: np.ndarray,
                        step: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the lower and upper bound of the acceleration, (n,) each.

    With d = upper - q and A = max_acceleration, the upper bound is the least of

    * 2 (d - v step) / step^2,  or -v^2 / (2 d) if v reverses within the step: no position during
      the step is beyond the limit;
    * the a of  (v + a step)^2 = 2 A (d - v step - a step^2 / 2): it can brake in time afterwards;
    * (max_velocity - v) / step;
    * A.

    The lower bound is the mirror image. A joint beyond its limits, or too fast to stop, brakes with
    A. Bounds that contradict each other are both replaced by their mean.

    :param max_velocity: (n,), inf for none; max_acceleration: (n,) finite; step: [s].
    """
    most, least = _upwards(np.array([upper - q, q - lower]), np.array([v, -v]), max_velocity,
                           max_acceleration, step)
    least = -least
    crossed = least > most
    if crossed.any():
        least[crossed] = most[crossed] = 0.5 * (least + most)[crossed]
    return least, most


def _upwards(d: np.ndarray, v: np.ndarray, max_velocity: np.ndarray, A: np.ndarray, step: float
             ) -> np.ndarray:
    """Return the largest acceleration towards a limit at the distance d, from -A to A."""
    square = step * step
    v, A, most = v * step, A * square, max_velocity * step  # from here on, time is counted in steps
    d = np.minimum(d, FAR)
    gap = 2.0 * d - v
    turn = np.minimum(-v, v * v / (-2.0 * np.maximum(d, NEVER)))
    inside = np.where((v <= 0.0) | (gap > 0.0), gap - v, turn)
    brake = np.maximum(np.sqrt(np.maximum(A * (0.25 * A + gap), 0.0)) - 0.5 * A, 0.0)
    most = np.minimum(inside, np.minimum(brake, most) - v)
    return np.minimum(np.maximum(most, -A), A) / square


def branchless_limits(q: Number, v: Number, lower: Number, upper: Number, max_velocity: Number,
                      max_acceleration: Number, step: Number) -> tuple[Number, Number]:
    """Return what `acceleration_limits` returns for one joint, on floats or symbols; all finite.

    :param lower, upper, max_velocity: FAR where there is none.
    """
    most = _branchless_upwards(upper - q, v, max_velocity, max_acceleration, step)
    least = -_branchless_upwards(q - lower, -v, max_velocity, max_acceleration, step)
    crossed, mean = is_positive(least - most), 0.5 * (least + most)
    return select(crossed, mean, least), select(crossed, mean, most)


def _branchless_upwards(d: Number, v: Number, max_velocity: Number, A: Number, step: Number
                        ) -> Number:
    """Return what `_upwards` returns."""
    square = step * step
    v, A, most = v * step, A * square, max_velocity * step
    d = smaller(d, FAR)
    gap = 2.0 * d - v
    turn = smaller(-v, v * v / (-2.0 * larger(d, NEVER)))
    is_turning = is_positive(v) * (1.0 - is_positive(gap))
    inside = select(is_turning, turn, gap - v)
    brake = larger(np.sqrt(larger(A * (0.25 * A + gap), 0.0)) - 0.5 * A, 0.0)
    most = smaller(inside, smaller(brake, most) - v)
    return smaller(larger(most, -A), A) / square
