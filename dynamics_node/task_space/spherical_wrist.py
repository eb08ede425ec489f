"""Solve the inverse kinematics of an arm whose last three axes meet in one point (Pieper 1968).

Axis i is the line through points[i] along the unit vector axes[i] when all angles are zero. e_i is
the rotation about it, and G = e_1 e_2 ... e_6. The wrist centre c is moved by three joints only,

    e_1 e_2 e_3 c = G c,

and R_4 R_5 R_6 = (R_1 R_2 R_3)' R_G follows. y is e_3 c seen from the foot on axis 2 of the common
normal a n of axes 1 and 2, alpha the angle between them, t = w_2 x n. Two numbers do not depend on
the first angle, and have simple terms:

    height above axis 1     w_1 . (G c - f_1)  =  cos(alpha) w_2 . y + sin(alpha) t . R_2 y
    distance from f_1       |G c - f_1|^2      =  |y|^2 - 2 a n . R_2 y + a^2

w_2 . y and |y|^2 are linear in the cosine and sine of the third angle, and n . R_2 y and t . R_2 y
are the components of R_2 y normal to axis 2. So the third angle has up to four values: by a
quadratic equation in its cosine and sine, or by a linear one if axes 1 and 2 meet or are parallel,
and then the second angle has two values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.select import Number, larger
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


class SphericalWrist(NamedTuple):
    """The geometry of an arm with axes 4, 5 and 6 through one point, all angles zero."""

    axes: np.ndarray     # (6, 3)
    centre: np.ndarray   # c, where the last three axes meet
    feet: np.ndarray     # (2, 3) f_1 and f_2, of the common normal on axes 1 and 2
    normal: np.ndarray   # n, unit vector from f_2 to f_1, normal to both axes
    a: float             # distance of axes 1 and 2; exactly 0 if they meet
    cosine: float        # of the angle alpha between them
    sine: float          # exactly 0 if they are parallel
    path: np.ndarray     # (3, 3) columns: y = path (cos q_3, sin q_3, 1)

    @classmethod
    def of(cls, axes: np.ndarray, points: np.ndarray, angle: float, length: float
           ) -> SphericalWrist | None:
        """Return the geometry, or None if the axes do not have this structure.

        :param angle: axes are parallel up to this angle [rad].
        :param length: axes meet up to this distance [m].
        """
        centre = _meeting_point(axes[3:], points[3:])
        sines = np.linalg.norm(np.cross(axes[:-1], axes[1:]), axis=1)
        if centre is None or sines[3:].min() <= angle or np.linalg.norm(np.cross(
                axes[3:], points[3:] - centre), axis=1).max() > length:
            return None
        w1, w2, w3 = axes[:3]
        feet, normal, a = _common_normal(axes[:2], points[:2], sines[0] <= angle)
        a, sine = 0.0 if abs(a) <= length else a, 0.0 if sines[0] <= angle else sines[0]
        on_axis = points[2] + w3 * (w3 @ (centre - points[2]))
        path = np.stack([centre - on_axis, cross(w3, centre - on_axis), on_axis - feet[1]], axis=1)
        moved = (path[:, :2].T @ path[:, 2] if a == 0.0  # by the third joint
                 else path[:, :2].T @ w2 if sine == 0.0 else path[:, 0])
        if (a == 0.0 and sine == 0.0) or np.linalg.norm(moved) <= length:
            return None  # the wrist centre has fewer than three degrees of freedom
        return cls(axes, centre, feet, normal, a, float(w1 @ w2), float(sine), path)

    @property
    def pairs(self) -> bool:
        """Whether the third angle has two values, and the second has two for each of them."""
        return self.a == 0.0 or self.sine == 0.0

    def leading_angles(self, G: Pose, start: list[Angle]) -> np.ndarray:
        """Return (cos, sin) of the values of the third angle, (k, 2); not where `pairs` is true."""
        height, distance = self._invariants(G)
        along, square = self._terms()
        one = np.array([0.0, 0.0, 1.0])
        u = (square + (self.a ** 2 - distance) * one) / (2.0 * self.a)
        s = (height * one - self.cosine * along) / self.sine
        # u^2 + s^2 = |y|^2 - (w_2 . y)^2
        Q = (np.outer(u, u) + np.outer(s, s) + np.outer(along, along)
             - 0.5 * (np.outer(one, square) + np.outer(square, one)))
        return quadratic_roots(Q, start[2])

    def solution(self, G: Pose, start: list[Angle], branch: np.ndarray) -> list[Angle]:
        """Return the six angles of one solution; arithmetic without branches.

        :param start: six angles that are kept where a singularity leaves them free.
        :param branch: see BRANCHES in closed_form.py.
        """
        w = self.axes
        q3 = self._third(G, branch[2], start[2]) if self.pairs else (branch[2], branch[3])
        y = self.path @ np.array([*q3, 1.0])
        q2 = self._second(G, y, branch[0], start[1])
        q1 = angle_between(w[0], rotated(w[1], q2, y) - self.a * self.normal,
                           G.R @ self.centre + G.p - self.feet[0], start[0])
        R = G.R
        for axis, angle in zip(w, (q1, q2, q3)):
            R = rotated(axis, back(angle), R)
        tip = R @ w[5]
        q5 = angle_to_component(w[4], w[3], w[5], tip, branch[1], start[4])
        q4 = angle_between(w[3], rotated(w[4], q5, w[5]), tip, start[3])
        turned = rotated(w[4], back(q5), rotated(w[3], back(q4), R @ w[4]))
        return [q1, q2, q3, q4, q5, angle_between(w[5], w[4], turned, start[5])]

    def _terms(self) -> tuple[np.ndarray, np.ndarray]:
        """Return w_2 . y and |y|^2, each three numbers: times (cos q_3, sin q_3, 1)."""
        square = 2.0 * self.path.T @ self.path[:, 2]
        square[2] += self.path[:, 0] @ self.path[:, 0] - self.path[:, 2] @ self.path[:, 2]
        return self.axes[1] @ self.path, square

    def _third(self, G: Pose, sign: Number, default: tuple[Number, Number]
               ) -> tuple[Number, Number]:
        """Return the third angle where axes 1 and 2 meet or are parallel."""
        height, distance = self._invariants(G)
        along, square = self._terms()
        (a, b, c), d = (square, distance) if self.a == 0.0 else (self.cosine * along, height)
        return one_of_two(a, b, d - c, sign, default)

    def _second(self, G: Pose, y: np.ndarray, sign: Number, default: tuple[Number, Number]
                ) -> tuple[Number, Number]:
        """Return the second angle: y turns to the components u along n and s along w_2 x n."""
        height, distance = self._invariants(G)
        along, square = self.axes[1] @ y, y @ y
        radius = square - along * along
        across = cross(self.axes[1], self.normal)
        if self.a == 0.0:
            s = (height - self.cosine * along) / self.sine
            u = sign * np.sqrt(larger(radius - s * s, 0.0))
        elif self.sine == 0.0:
            u = (square + self.a ** 2 - distance) / (2.0 * self.a)
            s = sign * np.sqrt(larger(radius - u * u, 0.0))
        else:
            u = (square + self.a ** 2 - distance) / (2.0 * self.a)
            s = (height - self.cosine * along) / self.sine
        at = self.normal @ y, across @ y
        return angle_of(u * at[0] + s * at[1], s * at[0] - u * at[1], default)

    def _invariants(self, G: Pose) -> tuple[Number, Number]:
        """Return the height of the wrist centre along axis 1 and its distance squared, from f_1."""
        x = G.R @ self.centre + G.p - self.feet[0]
        return self.axes[0] @ x, x @ x


def _meeting_point(axes: np.ndarray, points: np.ndarray) -> np.ndarray | None:
    """Return the point nearest to three lines, None if they are parallel."""
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    matrix = across.sum(axis=0)
    if np.linalg.cond(matrix) > 1e12:
        return None
    return np.linalg.solve(matrix, np.einsum('nij,nj->i', across, points))


def _common_normal(axes: np.ndarray, points: np.ndarray, parallel: bool
                   ) -> tuple[np.ndarray, np.ndarray, float]:
    """Return (feet on both axes (2, 3), unit vector n, a) with feet[0] - feet[1] = a n."""
    (w1, w2), (p1, p2) = axes, points
    if parallel:
        feet = np.stack([p1 + w1 * (w1 @ (p2 - p1)), p2])
        a = np.linalg.norm(feet[0] - p2)
        return feet, (feet[0] - p2) / a if a > 0.0 else np.zeros(3), float(a)
    n = np.cross(w1, w2) / np.linalg.norm(np.cross(w1, w2))
    # p1 + x w1 - (p2 + y w2) = a n
    x, y, a = np.linalg.solve(np.stack([-w1, w2, n], axis=1), p1 - p2)
    return np.stack([p1 + x * w1, p2 + y * w2]), n, float(a)
