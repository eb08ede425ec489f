"""Compute subtree inertias and velocity matrices (Echeandia and Wensing 2021) for Coriolis terms.

Without linear velocities: at each body, in the inertial frame that moves with its origin at this
instant.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.model.model import Model
from dynamics_node.spatial.inertia import ZERO, Inertia
from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.so3 import cross, skew


class SubtreeInertia(NamedTuple):
    """Inertia and velocity moments of a body with its subtree, about its origin, in its axes.

    u is the velocity of a point at r, relative to the origin. The velocity matrix B of Echeandia
    and Wensing 2021 maps a twist (x, y) to the wrench of the accelerations x * u, the integrals of
    r * (x * u) dm and x * u dm (* is the cross product); it does not depend on y.
    """

    inertia: Inertia
    flow: np.ndarray      # N, the integral of u r' dm, (3, 3)
    momentum: np.ndarray  # P, the integral of u dm, (3,)

    def __add__(self, other: 'SubtreeInertia') -> 'SubtreeInertia':  # type: ignore[override]
        return SubtreeInertia(self.inertia + other.inertia, self.flow + other.flow,
                              self.momentum + other.momentum)

    def velocity_matrix(self, X: np.ndarray) -> np.ndarray:
        """Return B X = ((tr(N) 1 - N) x, x * P), (6, n)."""
        x = X[:3]
        return np.concatenate([_trace_minus(self.flow) @ x, cross(x, self.momentum)])

    def velocity_matrix_transposed(self, X: np.ndarray) -> np.ndarray:
        """Return the angular half of B' X, (tr(N) 1 - N)' x + P * y; the linear is zero, (3, n)."""
        x, y = X[:3], X[3:]
        return _trace_minus(self.flow).T @ x + cross(self.momentum, y)

    def seen_from(self, T: Pose, drift: np.ndarray) -> 'SubtreeInertia':
        """Return the same in the parent's frame; drift: velocity of the origin relative to it."""
        inertia = self.inertia.seen_from(T)
        P = T.R @ self.momentum
        flow = T.R @ self.flow @ T.R.T + np.outer(P, T.p) + np.outer(drift, inertia.moment)
        return SubtreeInertia(inertia, flow, P + inertia.mass * drift)


def subtree_inertia(model: Model, T: list[Pose], w: list[np.ndarray],
                    drift: list[np.ndarray]) -> list[SubtreeInertia]:
    """Return the SubtreeInertia of every body (last entry: the world), summed from the leaves.

    :param w: angular velocity of every body in its axes, last entry: the world.
    :param drift: drift of every body, see `drifts`.
    """
    rest = SubtreeInertia(ZERO, np.zeros((3, 3)), np.zeros(3))
    result = [SubtreeInertia(inertia, skew(omega) @ inertia.second_moment,
                             cross(omega, inertia.moment))
              for inertia, omega in zip(model.inertias, w[:-1])] + [rest]
    for i in reversed(range(len(model.bodies))):
        parent = model.bodies[i].parent
        result[parent] = result[parent] + result[i].seen_from(T[i], drift[i])
    return result


def drifts(model: Model, T: list[Pose], S: list[np.ndarray], v: np.ndarray,
           w: list[np.ndarray]) -> list[np.ndarray]:
    """Return the velocity of each body's origin relative to its parent's, in the parent's axes."""
    return [cross(w[body.parent], T[i].p) + T[i].R @ (S[i] @ v[body.v])[3:]
            for i, body in enumerate(model.bodies)]


def ad_angular(w: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return ad_V X for the twist V = (w, 0)."""
    return np.concatenate([cross(w, X[:3]), cross(w, X[3:])])


def seen_from_parent(row: np.ndarray, T: Pose, drift: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Return B' X in the parent's frame, (3, n), where F = I X is there already, (6, n)."""
    return T.R @ row + cross(drift, F[3:])


def _trace_minus(A: np.ndarray) -> np.ndarray:
    """Return tr(A) 1 - A, (3, 3)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = A
    return np.array([[yy + zz, -xy, -xz], [-yx, xx + zz, -yz], [-zx, -zy, xx + yy]])
