"""Compute with poses, the group SE(3), and its actions on twists se(3) and wrenches dse(3).

A twist is V = (w, v) and a wrench F = (m, f), both of six scalars, angular part first, or columns
of a matrix (6, k). The actions use rotations, positions and 3-vectors, never 6 x 6 products, which
cost more. Equation numbers: Kim 2012.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.spatial import so3
from dynamics_node.spatial.triples import cross, difference, halves, joined, times, total


class Pose(NamedTuple):
    """The pose T = (R, p) of frame B in frame A, r_A = R r_B + p; {A} -> {B} in eq. 3."""

    R: np.ndarray  # (3, 3) columns are the axes of B in A
    p: np.ndarray  # (3,) origin of B in A [m]

    def __matmul__(self, other: 'Pose') -> 'Pose':
        """Return T_AC = T_AB @ T_BC."""
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> 'Pose':
        """Return T_BA (eq. 4)."""
        return Pose(self.R.T, -(self.R.T @ self.p))

    def matrix(self) -> np.ndarray:
        """Return the homogeneous matrix, (4, 4)."""
        return np.vstack([np.column_stack([self.R, self.p]), [0.0, 0.0, 0.0, 1.0]])


IDENTITY = Pose(np.eye(3), np.zeros(3))


# cos(pi/2) is 6e-17 in doubles. Entries of a constant rotation this close to 0 or +-1 are rounded
# to it: the change is below their rounding error, and a right angle costs nothing when compiled.
ROUNDING = 1e-15


def from_xyz_rpy(xyz: ArrayLike, rpy: Sequence[float] | np.ndarray) -> Pose:
    """Return the pose of a URDF origin, right angles exact."""
    return Pose(right_angles_exact(so3.from_rpy(rpy)), np.array(xyz, dtype=float))


def right_angles_exact(R: np.ndarray) -> np.ndarray:
    """Return a constant rotation with entries within ROUNDING of 0 or +-1 made exact, (3, 3)."""
    nearest = np.round(R)
    return np.where(np.abs(R - nearest) <= ROUNDING, nearest, R) + 0.0  # + 0.0: no negative zeros


def Ad(T: Pose, V: np.ndarray) -> np.ndarray:
    """Return Ad_T V: the twist in A of a twist given in B (eq. 6, 7)."""
    if V.size == 6:
        w, v, R, p = *halves(V), T.R.tolist(), T.p.tolist()
        w = times(R, w)
        return joined(V, w, total(times(R, v), cross(p, w)))
    turned = T.R @ V[:3]
    return np.concatenate([turned, T.R @ V[3:] + so3.cross(T.p, turned)])


def Ad_inv(T: Pose, V: np.ndarray) -> np.ndarray:
    """Return Ad_{T^-1} V: the twist in B of a twist given in A."""
    if V.size == 6:
        w, v, R_inv, p = *halves(V), T.R.T.tolist(), T.p.tolist()
        return joined(V, times(R_inv, w), times(R_inv, difference(v, cross(p, w))))
    return np.concatenate([T.R.T @ V[:3], T.R.T @ (V[3:] - so3.cross(T.p, V[:3]))])


def Ad_inv_dual(T: Pose, F: np.ndarray) -> np.ndarray:
    """Return Ad*_{T^-1} F: the wrench in A of a wrench given in B (eq. 8, 13)."""
    if F.size == 6:
        m, f, R, p = *halves(F), T.R.tolist(), T.p.tolist()
        f = times(R, f)
        return joined(F, total(times(R, m), cross(p, f)), f)
    turned = T.R @ F[3:]
    return np.concatenate([T.R @ F[:3] + so3.cross(T.p, turned), turned])


def ad(V: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return ad_V X, the Lie bracket of two twists (eq. 27)."""
    if V.size == X.size == 6:
        (w, v), (x, y) = halves(V), halves(X)
        like = V if V.ndim > X.ndim else X
        return joined(like, cross(w, x), total(cross(v, x), cross(w, y)))
    turn, turned = V[:3], X[:3]
    return np.concatenate([so3.cross(turn, turned),
                           so3.cross(V[3:], turned) + so3.cross(turn, X[3:])])


def ad_dual(V: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Return ad*_V F (eq. 29), the dual: F . ad_V X = X . ad*_V F."""
    if V.size == F.size == 6:
        (w, v), (m, f) = halves(V), halves(F)
        like = V if V.ndim > F.ndim else F
        return -joined(like, total(cross(w, m), cross(v, f)), cross(w, f))
    turn, force = V[:3], F[3:]
    return -np.concatenate([so3.cross(turn, F[:3]) + so3.cross(V[3:], force),
                            so3.cross(turn, force)])


def exp(V: np.ndarray) -> Pose:
    """Return the pose reached with the constant body twist V in unit time, for floats."""
    w, v = np.asarray(V[:3]), np.asarray(V[3:])
    return Pose(so3.exp(w), so3.exp_jacobian(w) @ v)


def log(T: Pose) -> np.ndarray:
    """Return the body twist V with exp(V) = T and |w| <= pi, for floats."""
    w = so3.log(T.R)
    return np.concatenate([w, np.linalg.solve(so3.exp_jacobian(w), T.p)])
