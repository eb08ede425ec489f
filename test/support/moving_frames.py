"""Compute the motion of points and frames on moving bodies, as an oracle (Hutter 2017, 2.7).

Everything is in the axes of the reference frame. Any number at once, (.., 3).
Eq. 2.115-2.122 and 2.76; for a point that moves in the body (Hutter drops the relative velocity
after 2.118) the Coriolis terms are added.
"""

from typing import NamedTuple

import numpy as np


def point_velocity(v, w, r):
    """Return v + w x r: of a point of a body, r from the body's origin (eq. 2.121)."""
    return v + np.cross(w, r)


def point_acceleration(a, w, dw, r):
    """Return a + dw x r + w x (w x r): of a point of a body (eq. 2.122)."""
    return a + np.cross(dw, r) + np.cross(w, np.cross(w, r))


class Motion(NamedTuple):
    """Where frame B is in frame A and how it moves there, in the axes of A."""

    R: np.ndarray   # (3, 3) columns are the axes of B
    p: np.ndarray   # (3,) origin of B [m]
    v: np.ndarray   # (3,) p' [m/s]
    w: np.ndarray   # (3,) angular velocity [rad/s]
    a: np.ndarray   # (3,) p'' [m/s^2]
    dw: np.ndarray  # (3,) w' [rad/s^2]

    def __matmul__(self, other):
        r"""Return the Motion of C in A from those of B in A and of C in B.

        With r, u, o the position, velocity and angular velocity of C in B, in the axes of A:
        v_C = v + w x r + u                                        (eq. 2.118)
        w_C = w + o                                                (eq. 2.76)
        a_C = a + dw x r + w x (w x r) + 2 w x u + a_CB
        dw_C = dw + w x o + dw_CB
        """
        r, u, o, a, dw = (_turn(self.R, x) for x in (other.p, *other[2:]))
        return Motion(
            self.R @ other.R, self.p + r,
            point_velocity(self.v, self.w, r) + u, self.w + o,
            point_acceleration(self.a, self.w, self.dw, r) + 2.0 * np.cross(self.w, u) + a,
            self.dw + np.cross(self.w, o) + dw)

    def inverse(self):
        """Return the Motion of A in B: what an observer on B sees of A (eq. 2.71, 2.111)."""
        Rt = np.swapaxes(self.R, -1, -2)
        p, v, w, a, dw = (-_turn(Rt, x) for x in self[1:])
        v = v + np.cross(w, p)  # (-R' p)', where (R')' = [w] R' with the w of A in B
        a = a + np.cross(dw, p) + np.cross(w, 2.0 * v - np.cross(w, p))
        return Motion(Rt, p, v, w, a, dw)


def seen_from(observer, frame):
    """Return the Motion of a frame as a moving observer sees it, both given in one frame A."""
    return observer.inverse() @ frame


def _turn(R, x):
    return (R @ x[..., None])[..., 0]
