"""Convert between the motion of a pose and that of its six coordinates about a fixed pose.

About a pose (p0, R0) another one has the coordinates x = (d, phi), in world axes,

    p = p0 + d,   R = exp([phi]) R0,

and with t = |phi|, V = 1 + b [phi] + c [phi]^2 the left Jacobian of exp, b = (1 - cos t)/t^2 and
c = (t - sin t)/t^3,

    omega  = V phi',
    omega' = V phi'' + b' phi x phi' + c' phi x (phi x phi') + c (|phi'|^2 phi - (phi . phi') phi').

So motions of poses are interpolated coordinate by coordinate, with exact twist and acceleration.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.control.spline import MotionSample
from dynamics_node.spatial import so3

SERIES = 0.1  # [rad] below it b, c and their rates are series, truncated by less than 3e-12
ONE = np.eye(3)


class PoseMotion(NamedTuple):
    """Pose, twist and acceleration of a frame, in world axes at its origin, linear first."""

    pose: np.ndarray           # (4, 4)
    twist: np.ndarray          # (6,) [m/s, rad/s]
    acceleration: np.ndarray   # its rate, (6,) [m/s^2, rad/s^2]

    @classmethod
    def still(cls, pose: np.ndarray) -> 'PoseMotion':
        """Return the motion that rests at a pose."""
        return cls(pose, np.zeros(6), np.zeros(6))


def pose_error(pose: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the coordinates of the wanted pose about the present one, (6,) [m, rad].

    The rotation part is the rotation vector of R* R', in world axes: the shortest turn that leads
    there (Hutter 2017, eq. 2.235). It replaces eq. 3.91, which is valid for small errors.
    """
    return np.concatenate([wanted[:3, 3] - pose[:3, 3], so3.log(wanted[:3, :3] @ pose[:3, :3].T)])


def stepped(pose: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the pose that has the coordinates x about another one, (4, 4)."""
    result = np.eye(4)
    result[:3, :3] = so3.exp(x[3:]) @ pose[:3, :3]
    result[:3, 3] = pose[:3, 3] + x[:3]
    return result


def from_coordinates(origin: np.ndarray, motion: MotionSample) -> PoseMotion:
    """Return the PoseMotion of the motion of coordinates about a pose."""
    x, dx, ddx = motion
    V, curved = _left_jacobian(x[3:], dx[3:])
    return PoseMotion(stepped(origin, x), np.concatenate([dx[:3], V @ dx[3:]]),
                      np.concatenate([ddx[:3], V @ ddx[3:] + curved]))


def to_coordinates(origin: np.ndarray, motion: PoseMotion) -> MotionSample:
    """Return the motion of the coordinates of a PoseMotion about a pose."""
    x = pose_error(origin, motion.pose)
    V, _ = _left_jacobian(x[3:], np.zeros(3))
    dphi = np.linalg.solve(V, motion.twist[3:])
    _, curved = _left_jacobian(x[3:], dphi)
    ddphi = np.linalg.solve(V, motion.acceleration[3:] - curved)
    return MotionSample(x, np.concatenate([motion.twist[:3], dphi]),
                        np.concatenate([motion.acceleration[:3], ddphi]))


def _left_jacobian(phi: np.ndarray, dphi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return V, (3, 3), and dV/dt dphi, (3,)."""
    t2 = float(phi @ phi)
    if t2 < SERIES * SERIES:
        b = 1 / 2 - t2 * (1 / 24 - t2 * (1 / 720 - t2 / 40320))
        c = 1 / 6 - t2 * (1 / 120 - t2 * (1 / 5040 - t2 / 362880))
        db = -1 / 12 + t2 * (1 / 180 - t2 / 6720)     # (db/dt) / t; dc likewise
        dc = -1 / 60 + t2 * (1 / 1260 - t2 / 60480)
    else:
        t = np.sqrt(t2)
        b, c = (1.0 - np.cos(t)) / t2, (t - np.sin(t)) / (t * t2)
        db, dc = (np.sin(t) / t - 2.0 * b) / t2, (b - 3.0 * c) / t2
    W = so3.skew(phi)
    once, rate = W @ dphi, float(phi @ dphi)
    curved = ((rate * db) * once + (rate * dc) * (W @ once) + (c * float(dphi @ dphi)) * phi
              - (c * rate) * dphi)
    return ONE + b * W + c * (W @ W), curved
