"""Predict the shortest stop of a moving robot within its effort limits, or slew limits too.

The robot stays on the line in joint space along which it moves, so that all joints stop at the same
time: with v0 the velocity at the beginning,

    v = s v0,   a = -b v0,   s from 1 to 0,   b >= 0 as large as possible [1/s],

where  tau = bias(q, s v0) - b M(q) v0  is within the effort limits. With slew limits, tau also
changes no faster than they allow, and b is back at zero when the robot has stopped:

    b <= sqrt(2 j s),   j the rate at which the slew limits allow b to change [1/s^2].
"""

from typing import NamedTuple

import numpy as np

STEP = 2e-4      # [s] of the integration
LONGEST = 2.0    # [s]; a robot that has not stopped by then cannot be stopped


class Stop(NamedTuple):
    """The motion until the robot rests, from the beginning of the stop on."""

    t: np.ndarray    # (N,) [s]
    q: np.ndarray    # (N, n)
    stops: bool      # False: the torques left over by gravity do not stop it

    @property
    def distance(self):
        """How far each joint moves, (n,) [rad or m]."""
        return np.abs(self.q[-1] - self.q[0])

    def at(self, t):
        """Return the positions at times after the beginning, (T, n)."""
        return np.stack([np.interp(t, self.t, column) for column in self.q.T], axis=1)


def shortest_stop(robot, q, v, effort, slew=None):
    """Return the Stop of a robot at q that moves at v.

    :param effort: limits, (n,) [N m or N].
    :param slew: limits, (n,) [N m/s or N/s]; None: torques may jump.
    """
    q, v = np.array(q, dtype=float), np.array(v, dtype=float)
    path, s, b = [q.copy()], 1.0, 0.0
    while s > 0.0 and v.any() and len(path) * STEP < LONGEST:
        inertial = robot.mass_matrix(q) @ v
        b_next = _greatest(robot.bias_torque(q, s * v), inertial, effort)
        if slew is not None:
            rate = (slew[inertial != 0.0] / np.abs(inertial[inertial != 0.0])).min()
            b_next = min(b_next, b + rate * STEP, np.sqrt(2.0 * rate * s))
        b = b_next
        s_next = max(0.0, s - b * STEP)
        q = q + 0.5 * (s + s_next) * v * STEP
        path.append(q)
        s = s_next
        if s < 1e-4:   # the square root approaches zero slowly; what is left is 1e-4 of the speed
            break
    path = np.array(path)
    return Stop(STEP * np.arange(len(path)), path, bool(s < 1e-3 or not v.any()))


def _greatest(bias, inertial, effort):
    """Return the largest b >= 0 with |bias - b inertial| <= effort, 0 if there is none."""
    with np.errstate(divide='ignore', invalid='ignore'):
        bounds = np.where(inertial > 0.0, (bias + effort) / inertial, (bias - effort) / inertial)
    return max(0.0, float(bounds[inertial != 0.0].min()))
