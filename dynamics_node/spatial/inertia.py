"""Represent inertias: of one rigid body, and of an articulated body (a body with its subtree)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.spatial import so3
from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.solve import symmetric
from dynamics_node.spatial.triples import (
    cross,
    difference,
    halves,
    joined,
    scaled,
    times,
    total,
)

_ONE = np.eye(3)


class Inertia(NamedTuple):
    """The inertia of a rigid body about the origin of its frame (Kim 2012, eq. 20-22).

    The moment of inertia is about the frame's **origin**, not about the centre of mass.
    """

    mass: float          # m [kg]
    moment: np.ndarray   # (3,) first moment m c, c the centre of mass [kg m]
    tensor: np.ndarray   # (3, 3) [kg m^2]

    def __add__(self, other: 'Inertia') -> 'Inertia':  # type: ignore[override]  # not a tuple's
        """Return the inertia of the two bodies welded together, both in one frame."""
        return Inertia(self.mass + other.mass, self.moment + other.moment,
                       self.tensor + other.tensor)

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        """Return the momentum L = I V of the twist V, (6,) or column by column (6, k) (eq. 23)."""
        if V.size == 6:
            w, v, tensor, moment = *halves(V), self.tensor.tolist(), self.moment.tolist()
            return joined(V, total(times(tensor, w), cross(moment, v)),
                          difference(scaled(self.mass, v), cross(moment, w)))
        turns, slides = V[:3], V[3:]
        return np.concatenate([self.tensor @ turns + so3.cross(self.moment, slides),
                               self.mass * slides - so3.cross(self.moment, turns)])

    def seen_from(self, T: Pose) -> 'Inertia':
        """Return the inertia in frame A of a body given in frame B, T the pose of B in A (eq. 21).

        Rotate, then shift: with h' = R m c,
        I_A = R I R' - [h'][p] - [p][h'] - m [p][p].
        """
        h = T.R @ self.moment
        half = so3.skew(T.p) @ so3.skew(h + 0.5 * self.mass * T.p)
        return Inertia(self.mass, h + self.mass * T.p,
                       symmetric(T.R @ self.tensor @ T.R.T - half - half.T))

    def matrix(self) -> np.ndarray:
        """Return the symmetric 6 x 6 matrix (eq. 22)."""
        return articulated(self).matrix()

    @property
    def second_moment(self) -> np.ndarray:
        """The integral of r r' dm = tr(I)/2 1 - I, (3, 3) [kg m^2]."""
        return 0.5 * self.tensor.trace() * _ONE - self.tensor

    @property
    def com(self) -> np.ndarray:
        """The centre of mass [m]; the frame's origin for a body without mass."""
        return self.moment / self.mass if self.mass else np.zeros(3)

    def tensor_about_com(self) -> np.ndarray:
        """Return the moment of inertia about the centre of mass, in the frame's axes [kg m^2]."""
        C = so3.skew(self.com)
        return self.tensor + self.mass * (C @ C)


ZERO = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))


def from_com(mass: float, com: ArrayLike, tensor: ArrayLike) -> Inertia:
    """Return the inertia of a body given about its centre of mass (eq. 22, parallel axes)."""
    com = np.asarray(com, dtype=float)
    C = so3.skew(com)
    return Inertia(mass, mass * com, np.asarray(tensor, dtype=float) - mass * (C @ C))


class BlockInertia(NamedTuple):
    """A linear map of twists to wrenches by its 3 x 3 blocks: [[A, B], [C, D]].

    The articulated-body inertia of Kim 2012 (eq. 43) is the symmetric case, C = B'.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray

    def __add__(self, other: 'BlockInertia') -> 'BlockInertia':  # type: ignore[override]
        return BlockInertia(*(mine + its for mine, its in zip(self, other)))

    def __sub__(self, other: 'BlockInertia') -> 'BlockInertia':
        return BlockInertia(*(mine - its for mine, its in zip(self, other)))

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        if V.size == 6:
            (w, v), (A, B, C, D) = halves(V), [block.tolist() for block in self]
            return joined(V, total(times(A, w), times(B, v)), total(times(C, w), times(D, v)))
        turns, slides = V[:3], V[3:]
        return np.concatenate([self.A @ turns + self.B @ slides, self.C @ turns + self.D @ slides])

    @property
    def T(self) -> 'BlockInertia':
        """The transposed map."""
        return BlockInertia(self.A.T, self.C.T, self.B.T, self.D.T)

    def seen_from(self, T: Pose) -> 'BlockInertia':
        """Return Ad*_{T^-1} X Ad_{T^-1}: a map of frame B in frame A, T the pose of B in A."""
        A, B, C, D = (T.R @ block @ T.R.T for block in self)
        P = so3.skew(T.p)
        PD = P @ D
        return BlockInertia(A + P @ C - (B + PD) @ P, B + PD, C - D @ P, D)

    def matrix(self) -> np.ndarray:
        """Return the 6 x 6 matrix."""
        return np.block([[self.A, self.B], [self.C, self.D]])


def articulated(inertia: Inertia) -> BlockInertia:
    """Return the blocks of a rigid body's inertia (eq. 22)."""
    H = so3.skew(inertia.moment)
    return BlockInertia(inertia.tensor, H, H.T, inertia.mass * np.eye(3))


def outer(F: np.ndarray, G: np.ndarray) -> BlockInertia:
    """Return F G' as blocks, for wrenches or columns of wrenches (6, k)."""
    return BlockInertia(F[:3] @ G[:3].T, F[:3] @ G[3:].T, F[3:] @ G[:3].T, F[3:] @ G[3:].T)
