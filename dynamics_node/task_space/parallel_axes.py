"""Solve the inverse kinematics of an arm whose second, third and fourth axes are parallel.

Axis i is the line through points[i] along the unit vector axes[i] when all angles are zero. e_i is
the rotation about it, and G = e_1 e_2 ... e_6. The three parallel joints do not move along their
direction w, hence for every point x

    w . (e_1^-1 G x) = w . (e_5 e_6 x).

For a point of axis 6, and for its direction, this does not depend on the sixth angle: two equations
that are linear in the cosines and sines of the first and the fifth angle,

    A (cos q_1, sin q_1) + k = B (cos q_5, sin q_5).

Only A and k depend on the pose. If B is regular, the first angle has up to four values, by a
quadratic equation. If it is singular, as where axes 5 and 6 meet, one equation has the first
angle alone, and the fifth angle has two values. The sixth angle follows from the direction w, and
the parallel joints are a planar arm of two links and a hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.select import Number
from dynamics_node.spatial.so3 import cross
from dynamics_node.task_space.circle_equations import (
    Angle,
    angle_between,
    angle_of,
    angle_to_component,
    back,
    one_of_two,
    quadratic_roots,
    rotated,
)


class ParallelAxes(NamedTuple):
    """The geometry of an arm with parallel axes 2, 3 and 4, all angles zero."""

    axes: np.ndarray     # (6, 3)
    points: np.ndarray   # (6, 3); that of axis 6 is the nearest to axis 5
    B: np.ndarray        # (2, 2) see above; the row of the point is divided by `size`
    constant: np.ndarray  # (2,) the part of w . (e_5 e_6 x) that is constant
    null: np.ndarray     # (2,) null B is zero, or as small as possible
    regular: bool        # whether B is regular
    size: float          # of the arm [m]

    @classmethod
    def of(cls, axes: np.ndarray, points: np.ndarray, angle: float, length: float
           ) -> ParallelAxes | None:
        """Return the geometry, or None if the axes do not have this structure.

        :param angle: axes are parallel up to this angle [rad].
        :param length: axes meet up to this distance [m].
        """
        sines = np.linalg.norm(np.cross(axes[:-1], axes[1:]), axis=1)
        links = np.linalg.norm(np.cross(axes[1], np.diff(points[1:4], axis=0)), axis=1)
        if max(sines[1], sines[2]) > angle or min(sines[0], sines[3]) <= angle \
                or links.min() <= length:
            return None
        points = points.copy()
        points[5] = _nearest_to(axes[4], points[4], axes[5], points[5])
        size = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
        w, w5 = axes[1], axes[4]
        arms = np.stack([axes[5], (points[5] - points[4]) / size])
        B = np.stack([arms @ w - (arms @ w5) * (w5 @ w), np.cross(w5, arms) @ w], axis=1)
        constant = (arms @ w5) * (w5 @ w) + np.array([0.0, w @ points[4] / size])
        left, values, _ = np.linalg.svd(B)
        if values[0] <= angle:
            return None  # neither the direction nor a point of axis 6 moves along w
        return cls(axes, points, B, constant, left[:, 1], bool(values[1] > angle), size)

    @property
    def pairs(self) -> bool:
        """Whether the first angle has two values, and the fifth has two for each of them."""
        return not self.regular

    def leading_angles(self, G: Pose, start: list[Angle]) -> np.ndarray:
        """Return (cos, sin) of the values of the first angle, (k, 2); not where `pairs` is true."""
        A, k = self._first_angle(G)
        both = np.linalg.solve(self.B, np.column_stack([A, k]))
        return quadratic_roots(both.T @ both - np.diag([0.0, 0.0, 1.0]), start[0])

    def solution(self, G: Pose, start: list[Angle], branch: np.ndarray) -> list[Angle]:
        """Return the six angles of one solution; arithmetic without branches.

        :param start: six angles that are kept where a singularity leaves them free.
        :param branch: see BRANCHES in closed_form.py.
        """
        w = self.axes
        q1, q5 = self._first_and_fifth(G, branch, start)
        q6 = angle_between(w[5], G.R.T @ rotated(w[0], q1, w[1]), rotated(w[4], back(q5), w[1]),
                           start[5])
        # e_2 e_3 e_4 = e_1^-1 G e_6^-1 e_5^-1 of a point of axis 4, and of a direction normal to it
        x = self._about(4, back(q5), self.points[3])
        x = self._about(0, back(q1), G.R @ self._about(5, back(q6), x) + G.p) - self.points[1]
        across = _normal_to(w[1])
        turned = rotated(w[5], back(q6), rotated(w[4], back(q5), across))
        turned = rotated(w[0], back(q1), G.R @ turned)
        first, second = _across(w[1], np.diff(self.points[1:4], axis=0))
        x = x - w[1] * (w[1] @ x)
        # |first + R_3 second| = |x|
        q3 = one_of_two(2.0 * first @ second, 2.0 * first @ cross(w[2], second),
                        x @ x - first @ first - second @ second, branch[1], start[2])
        q2 = angle_between(w[1], first + rotated(w[2], q3, second), x, start[1])
        turned = rotated(w[2], back(q3), rotated(w[1], back(q2), turned))
        return [q1, q2, q3, angle_between(w[3], across, turned, start[3]), q5, q6]

    def _first_angle(self, G: Pose) -> tuple[np.ndarray, np.ndarray]:
        """Return A and k."""
        w, w1 = self.axes[1], self.axes[0]
        target = np.array([G.R @ self.axes[5],
                           (G.R @ self.points[5] + G.p - self.points[0]) / self.size])
        along = target @ w1
        A = np.stack([target @ w - along * (w1 @ w), -cross(w1, target.T).T @ w], axis=1)
        k = along * (w1 @ w) + np.array([0.0, w @ self.points[0] / self.size]) - self.constant
        return A, k

    def _first_and_fifth(self, G: Pose, branch: np.ndarray, start: Sequence[tuple[Number, Number]]
                         ) -> tuple[tuple[Number, Number], tuple[Number, Number]]:
        A, k = self._first_angle(G)
        if self.regular:
            q1 = branch[2], branch[3]
            cosine, sine = np.linalg.inv(self.B) @ (A @ np.array([*q1]) + k)
            return q1, angle_of(cosine, sine, start[4])
        w = self.axes
        a, b = self.null @ A
        q1 = one_of_two(a, b, -self.null @ k, branch[2], start[0])
        if np.linalg.norm(self.B[0]) > np.linalg.norm(self.B[1]):  # the equation of the direction
            tip = rotated(w[0], back(q1), G.R @ w[5])
            return q1, angle_to_component(w[4], w[1], w[5], tip, branch[0], start[4])
        a, b = self.B[1]
        return q1, one_of_two(a, b, (A @ np.array([*q1]) + k)[1], branch[0], start[4])

    def _about(self, joint: int, angle: tuple[Number, Number], x: np.ndarray) -> np.ndarray:
        """Return a point turned about the axis of a joint."""
        return self.points[joint] + rotated(self.axes[joint], angle, x - self.points[joint])


def _across(axis: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the part of the rows of x that is normal to the axis."""
    return x - np.outer(x @ axis, axis)


def _normal_to(axis: np.ndarray) -> np.ndarray:
    """Return a unit vector normal to the axis."""
    across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    return across / np.linalg.norm(across)


def _nearest_to(w5: np.ndarray, p5: np.ndarray, w6: np.ndarray, p6: np.ndarray) -> np.ndarray:
    """Return the point of axis 6 that is nearest to axis 5, p6 if they are parallel."""
    n = np.cross(w5, w6)
    square = n @ n
    return p6 if square < 1e-12 else p6 + w6 * (np.cross(p5 - p6, w5) @ n) / -square
