"""Return a fast motion of a 7-axis arm: to another configuration and back, at rest in both."""

import numpy as np
from scipy.interpolate import CubicSpline

from dynamics_node.control.spline import MotionSample, Spline

HOME = np.array([0.0, 0.55, 0.0, -1.25, 0.0, 0.95, 0.0])
OUT = np.array([[0.55, 0.15, 0.3, -1.5, -0.5, 0.3, 0.7],
                [1.1, 0.9, -0.2, -0.7, -0.2, 0.7, 1.3]])   # on the way, and where it rests
BACK = np.array([[0.3, 0.3, -0.5, -1.1, 0.7, 1.2, 0.3],
                 [-0.35, 0.45, -0.3, -1.35, 0.6, 0.6, -0.6]])
KNOT = 0.02      # [s] between the points that are sent
# minimum jerk: at rest at both ends, and no jump of the acceleration
PROGRESS = np.polynomial.Polynomial([0.0, 0.0, 0.0, 10.0, -15.0, 6.0])


def fast_motion(out=1.8, back=3.0):
    """Return the Spline that leaves HOME at time 0, and is back after out + back seconds."""
    times, motions = zip(_half(out, [HOME, *OUT]), _half(back, [OUT[-1], *BACK, HOME], out))
    keep = slice(0, -1)   # the halves have one point in common
    parts = [np.concatenate([one[keep], other]) for one, other in zip(*motions)]
    return Spline(np.concatenate([times[0][keep], times[1]]), *parts)


def _half(duration, points, start=0.0):
    """Return times and the Motion through points, at rest at both ends."""
    path = CubicSpline(np.linspace(0.0, 1.0, len(points)), points)
    t = np.linspace(0.0, duration, round(duration / KNOT) + 1)
    s, ds, dds = (PROGRESS.deriv(k)(t / duration) / duration ** k for k in range(3))
    slope, curvature = path(s, 1), path(s, 2)
    return start + t, MotionSample(path(s), slope * ds[:, None],
                             slope * dds[:, None] + curvature * ds[:, None] ** 2)
