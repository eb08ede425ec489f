"""Define the joint types: pose and motion subspace of the child.

A joint maps its coordinates q_i to the pose T(q_i) of the child in the joint frame, and its
velocity v_i to the child's relative twist S(q_i) v_i, in the child's frame (Kim 2012, eq. 37).
S is 6 x n_i and may depend on q_i: `subspace_rate` is dS/dt, `subspace_rate_derivative` the
derivative of dS/dt along dq_i at constant v_i; both are zero where `subspace_is_constant`.
A new joint type is one class here and one row in KINDS.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from dynamics_node.errors import ModelError
from dynamics_node.spatial import so3
from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.select import Number


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return an array that all callers share, after making it read-only."""
    array.flags.writeable = False
    return array


class OneAxis:
    """A joint of one axis; matrices that depend on the axis alone are computed once."""

    axis: np.ndarray
    subspace_is_constant = True

    def __getstate__(self) -> dict[str, np.ndarray]:
        """Return the axis alone: the names of cached kernels are digests of pickled joints."""
        return {'axis': self.axis}


@dataclass(frozen=True, eq=False)
class Revolute(OneAxis):
    """Rotation about a fixed unit axis; q [rad], v = dq/dt."""

    axis: np.ndarray
    nq = nv = 1

    def pose(self, q: np.ndarray) -> Pose:
        return Pose(so3.rotation_of_terms(self._terms, q[0]), np.zeros(3))

    def subspace(self, q: np.ndarray) -> np.ndarray:
        return self._subspace

    @cached_property
    def _terms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return so3.axis_terms(self.axis)

    @cached_property
    def _subspace(self) -> np.ndarray:
        return _read_only(np.concatenate([self.axis, np.zeros(3)])[:, None])

    def subspace_rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros((6, 1))

    def subspace_rate_derivative(self, q: np.ndarray, v: np.ndarray, dq: np.ndarray) -> np.ndarray:
        return np.zeros((6, 1))


@dataclass(frozen=True, eq=False)
class Prismatic(OneAxis):
    """Translation along a fixed unit axis; q [m], v = dq/dt."""

    axis: np.ndarray
    nq = nv = 1

    def pose(self, q: np.ndarray) -> Pose:
        return Pose(np.eye(3), self.axis * q[0])

    def subspace(self, q: np.ndarray) -> np.ndarray:
        return self._subspace

    @cached_property
    def _subspace(self) -> np.ndarray:
        return _read_only(np.concatenate([np.zeros(3), self.axis])[:, None])

    def subspace_rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros((6, 1))

    def subspace_rate_derivative(self, q: np.ndarray, v: np.ndarray, dq: np.ndarray) -> np.ndarray:
        return np.zeros((6, 1))


@dataclass(frozen=True, eq=False)
class Planar:
    """Translation in the plane normal to `axis`, then rotation; q = (x, y, theta), v = dq/dt.

    The plane's x and y axes are those of the joint frame, rotated by the shortest rotation of z to
    `axis`; for an axis below the xy plane, after half a turn about x.
    The velocity is in the joint frame, the twist in the child's: S depends on theta.
    """

    axis: np.ndarray
    nq = nv = 3
    subspace_is_constant = False

    def plane(self) -> np.ndarray:
        """Return the two unit vectors that span the plane, as columns (3, 2)."""
        x, y, z = self.axis
        if z < 0.0:  # the shortest rotation is not unique at -z
            return np.array([[1, 0, 0], [0, -1, 0], [0, 0, -1]]) @ _shortest(x, -y, -z)
        return _shortest(x, y, z)

    def pose(self, q: np.ndarray) -> Pose:
        return Pose(so3.about_axis(self.axis, q[2]), self.plane() @ q[:2])

    def subspace(self, q: np.ndarray) -> np.ndarray:
        slide = so3.about_axis(self.axis, q[2]).T @ self.plane()
        return np.column_stack([np.vstack([np.zeros((3, 2)), slide]),
                                np.concatenate([self.axis, np.zeros(3)])])

    def subspace_rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        # d/dt R' = -[w] R', with w = axis * dtheta/dt
        slide = so3.about_axis(self.axis, q[2]).T @ self.plane()
        rate = so3.skew(-self.axis) @ slide * v[2]
        return np.column_stack([np.vstack([np.zeros((3, 2)), rate]), np.zeros(6)])

    def subspace_rate_derivative(self, q: np.ndarray, v: np.ndarray, dq: np.ndarray) -> np.ndarray:
        # [w][w] R' for two turns about one axis: in the plane [axis][axis] = -1
        slide = so3.about_axis(self.axis, q[2]).T @ self.plane()
        return np.column_stack([np.vstack([np.zeros((3, 2)), -slide * (v[2] * dq[2])]),
                                np.zeros(6)])


def _shortest(x: Number, y: Number, z: Number) -> np.ndarray:
    """Return the first two columns of the shortest rotation of the z axis to (x, y, z), z >= 0."""
    k = 1.0 / (1.0 + z)
    return np.array([[1.0 - k * x * x, -k * x * y], [-k * x * y, 1.0 - k * y * y], [-x, -y]])


@dataclass(frozen=True, eq=False)
class Floating:
    """Free motion; q = (position, quaternion x y z w), v = body twist (linear, angular).

    nq = 7 and nv = 6: v is not dq/dt.
    """

    nq = 7
    nv = 6
    subspace_is_constant = True

    def pose(self, q: np.ndarray) -> Pose:
        return Pose(so3.from_quaternion(q[3:]), q[:3])

    def subspace(self, q: np.ndarray) -> np.ndarray:
        return _LINEAR_FIRST

    def subspace_rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.zeros((6, 6))

    def subspace_rate_derivative(self, q: np.ndarray, v: np.ndarray, dq: np.ndarray) -> np.ndarray:
        return np.zeros((6, 6))


# The joint's velocity is (linear, angular) as in ROS; twists are (angular, linear) as in Kim 2012.
_LINEAR_FIRST = _read_only(np.roll(np.eye(6), 3, axis=0))

Joint: TypeAlias = Revolute | Prismatic | Planar | Floating

# URDF type -> joint. 'fixed' joints are lumped into their parent before.
KINDS: dict[str, Callable[[np.ndarray], Joint]] = {
    'revolute': Revolute,
    'continuous': Revolute,
    'prismatic': Prismatic,
    'planar': Planar,
    'floating': lambda axis: Floating(),
}
JOINT_TYPES = (*KINDS, 'fixed')


def unit_axis(where: str, axis: np.ndarray) -> np.ndarray:
    """Return the unit vector along an axis, (3,); `where` names the joint in an error."""
    largest = np.abs(axis).max()
    if largest == 0.0:
        raise ModelError(f'{where} has a zero axis; expected a direction such as 0 0 1')
    axis = axis / largest  # so that no square overflows or vanishes
    return axis / np.linalg.norm(axis)
