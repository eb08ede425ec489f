"""Compute inverse kinematics in closed form, for arms whose structure allows it.

The joints from the root to the frame must be six revolute joints, with three consecutive axes that
meet in one point at either end (spherical_wrist.py), or with parallel axes 2, 3, 4 or 3, 4, 5
(parallel_axes.py). An arm whose first three axes meet, or whose axes 3, 4, 5 are parallel, is
solved from its other end: G^-1 = e_6^-1 ... e_1^-1 has the axes in reverse order. All solutions
are found, eight at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.kinematics import path_to
from dynamics_node.model.joints import Revolute
from dynamics_node.model.model import Body, Model
from dynamics_node.spatial import se3
from dynamics_node.spatial.se3 import Pose
from dynamics_node.task_space.circle_equations import Angle
from dynamics_node.task_space.parallel_axes import ParallelAxes
from dynamics_node.task_space.spherical_wrist import SphericalWrist

# Axes that are parallel, and that meet, up to this angle [rad] and this share of the arm's length:
# URDFs have angles of four digits, such as 1.5708. Newton's method removes the rest of the error.
PARALLEL, MEETING = 1e-4, 1e-4
STRUCTURES: tuple[type[SphericalWrist] | type[ParallelAxes], ...] = (SphericalWrist, ParallelAxes)
POSE = ('position', 'orientation')  # kinds of the parts of a target that prescribes a pose
BEYOND = 1e-6                       # excess of a limit that is rounding [rad]
TURN = 2.0 * np.pi
# One row per solution: three signs, where the angles have pairs of values. Otherwise the rows are
# (1, sign, cos, sin), with the cosine and sine of an angle that has up to four values.
BRANCHES = np.array([(*signs, 0.0) for signs in product((1.0, -1.0), repeat=3)])


class SixAxisArm(NamedTuple):
    """The joints from the root to a frame, if they have a closed-form inverse."""

    geometry: SphericalWrist | ParallelAxes
    reverse: bool            # the geometry has the axes in reverse order
    coordinates: np.ndarray  # (6,) places of the joints in q
    home: Pose               # inverse of the frame's pose where all six angles are zero
    shoulder: np.ndarray     # (3,) a point of the first axis
    reach: float             # greatest distance of the frame from it [m]
    limits: np.ndarray       # (2, 6) lower and upper [rad]

    def motion(self, goal: np.ndarray) -> Pose:
        """Return G of the geometry for a goal of newton_step.py: a position and an orientation."""
        pose = Pose(np.array(goal[5:14]).reshape(3, 3), np.array(goal[:3])) @ self.home
        return pose.inverse() if self.reverse else pose

    def angles(self, q: np.ndarray) -> list[Angle]:
        """Return (cos, sin) of the six joints, in the order and direction of the geometry."""
        angles = [q[i] for i in self.coordinates]
        if self.reverse:
            angles = [-x for x in reversed(angles)]
        return [(np.cos(x), np.sin(x)) for x in angles]


def arm_of(model: Model, frame: str) -> SixAxisArm | None:
    """Return the SixAxisArm that moves a frame; None if it has no closed-form inverse."""
    where = model.frame(frame)
    bodies = tuple(model.bodies[i] for i in path_to(model, where.body))
    found = _structure(bodies)
    if found is None:
        return None
    geometry, reverse, shoulder, last, length = found
    places = [body.q.start for body in bodies]
    joints = {joint.q.start: joint for joint in model.joints}
    limits = np.array([(joints[i].lower, joints[i].upper) for i in places]).T
    return SixAxisArm(geometry, reverse, np.array(places), (last @ where.pose).inverse(), shoulder,
                      length + math.hypot(*where.pose.p), limits)


@lru_cache(maxsize=32)
def _structure(bodies: tuple[Body, ...]
               ) -> tuple[SphericalWrist | ParallelAxes, bool, np.ndarray, Pose, float] | None:
    """Return (geometry, is it reversed, point of the first axis, pose of the last body, length).

    All are at zero angles; the length is the sum of the distances between the bodies. The result is
    None if the bodies are not a six-axis arm with a closed form. It is cached by the bodies alone:
    robots with other payloads share it, and a model that holds symbols while it is traced is not
    kept.
    """
    axes, points, pose = [], [], se3.IDENTITY
    for body in bodies:
        if not isinstance(body.joint, Revolute) or (body.ratio, body.offset) != (1.0, 0.0):
            return None
        pose = pose @ body.placement
        axes.append(pose.R @ body.joint.axis)
        points.append(pose.p)
    if len({body.q.start for body in bodies}) != 6 or len(bodies) != 6:
        return None
    lines = np.array(axes), np.array(points)
    length = float(np.linalg.norm(np.diff(lines[1], axis=0), axis=1).sum())
    for kind, reverse in product(STRUCTURES, (False, True)):
        order = slice(None, None, -1 if reverse else 1)
        geometry = kind.of(*(part[order] for part in lines), PARALLEL, MEETING * length)
        if geometry is not None:
            return geometry, reverse, points[0], pose, length
    return None


@lru_cache(maxsize=32)
def arm_of_parts(model: Model, parts: tuple[tuple[str, str], ...]) -> SixAxisArm | None:
    """Return the arm that brings the parts of a target to their goal in closed form, or None."""
    frames, kinds = zip(*parts)
    if kinds != POSE or len(set(frames)) != 1:
        return None
    return arm_of(model, frames[0])


def kernels_of(model: Model, parts: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Return the names of the kernels that inverse kinematics of some parts uses."""
    return ('newton_step',) if arm_of_parts(model, parts) is None else (
        'newton_step', 'arm_solution')


def arm_solution(model: Model, q: np.ndarray, goal: np.ndarray, branch: np.ndarray,
                 parts: Sequence[tuple[str, str]]) -> np.ndarray:
    """Return (cos, sin) of the six joints of one solution, (6, 2); arithmetic without branches.

    :param q: configuration whose angles are kept where a singularity leaves them free.
    :param branch: (4,) see BRANCHES.
    """
    arm = arm_of(model, parts[0][0])
    assert arm is not None
    found = arm.geometry.solution(arm.motion(goal), arm.angles(q), branch)
    if arm.reverse:
        found = [(c, -s) for c, s in reversed(found)]
    return np.array(found)


def branches(arm: SixAxisArm, q: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Return the arguments `branch` of all solutions of a goal, (k, 4), k at most 8."""
    if not math.dist(goal[:3], arm.shoulder) <= 2.0 * arm.reach:
        return BRANCHES[:0]
    if arm.geometry.pairs:
        return BRANCHES
    leading = arm.geometry.leading_angles(arm.motion(goal), arm.angles(q))
    return np.array([(1.0, sign, *lead) for lead in leading.tolist()
                     for sign in (1.0, -1.0)]).reshape(-1, 4)


def closed_form(arm: SixAxisArm, solve: Callable, goal: np.ndarray, start: np.ndarray
                ) -> np.ndarray:
    """Return the configurations that reach a goal, within the limits, (k, nq).

    Some may not reach it: where an equation has no solution, the nearest angle takes its place.
    The other joints are as at the start, and of the turns of a joint the nearest to the start
    within the limits is chosen.

    :param solve: arm_solution(q, goal, branch) of single states and batches.
    """
    chosen = branches(arm, start, goal)
    q = start[None].repeat(len(chosen), axis=0)
    if len(q) == 0:
        return q
    cosines = solve(q, goal[None].repeat(len(q), axis=0), chosen)
    at, (lower, upper) = arm.coordinates, arm.limits
    angles = np.arctan2(cosines[..., 1], cosines[..., 0])
    turns = angles / TURN
    fewest = np.ceil((lower - BEYOND) / TURN - turns)
    most = np.floor((upper + BEYOND) / TURN - turns)
    nearest = np.rint(start[at] / TURN - turns)
    angles += TURN * np.minimum(np.maximum(nearest, fewest), most)
    q[:, at] = np.minimum(np.maximum(angles, lower), upper)
    return q[(fewest <= most).all(axis=1)]
