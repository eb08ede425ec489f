"""Compute poses, joint axes and bias accelerations of all bodies in world axes.

Constraints compare bodies of different branches. In world axes they need no transforms between
branches, and all constraints share one computation.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.tree_recursions import joints_at, per_body, subspace_rate
from dynamics_node.model.model import Model
from dynamics_node.spatial.so3 import cross


class WorldPlacements(NamedTuple):
    """Poses of the bodies and twists of their joints, in world axes."""

    poses: list         # Pose of each body, last entry: the world
    which: list         # k pairs (body, entry of v of its joint); mimic joints share theirs
    turn: np.ndarray    # (3, k) angular velocity of the body per unit of that entry
    slide: np.ndarray   # (3, k) velocity of the body's origin per unit of that entry
    origin: np.ndarray  # (3, k) the body's origin


def world_placements(model: Model, q: np.ndarray) -> WorldPlacements:
    """Return the WorldPlacements of the bodies."""
    T, S = joints_at(model, q)
    poses = body_poses(model, T)
    which, turn, slide, origin = [], [], [], []
    for i, body in enumerate(model.bodies):
        R, p = poses[i]
        which += [(i, k) for k in range(body.v.start, body.v.stop)]
        turn += [*(R @ S[i][:3]).T]
        slide += [*(R @ S[i][3:]).T]
        origin += [p] * S[i].shape[1]
    return WorldPlacements(poses, which, *(np.array(columns).reshape(-1, 3).T
                                           for columns in (turn, slide, origin)))


class WorldMotion(NamedTuple):
    """Velocity of a body, and its acceleration at zero joint acceleration, in world axes."""

    w: np.ndarray      # angular velocity
    v: np.ndarray      # velocity of the origin
    alpha: np.ndarray  # angular acceleration
    acc: np.ndarray    # acceleration of the origin


def world_motions(model: Model, q: np.ndarray, v: np.ndarray,
                  placements: WorldPlacements) -> list[WorldMotion]:
    """Return the WorldMotion of every body (last entry: the world) at zero joint acceleration.

    It is the motion of a point fixed to the parent plus that of the joint. The velocity of the
    joint rotates with both bodies, hence w_parent + w.
    """
    still = np.zeros(3)
    motions = per_body(model, WorldMotion(still, still, still, still))
    column = 0
    for i, body in enumerate(model.bodies):
        columns = slice(column, column + body.v.stop - body.v.start)
        column = columns.stop
        turn = placements.turn[:, columns] @ v[body.v]
        slide = placements.slide[:, columns] @ v[body.v]
        R, p = placements.poses[i]
        rate = subspace_rate(body, q, v) @ v[body.v]
        parent = at_point(motions[body.parent], p - placements.poses[body.parent].p)
        w = parent.w + turn
        motions[i] = WorldMotion(
            w, parent.v + slide,
            parent.alpha + cross(parent.w, turn) + R @ rate[:3],
            parent.acc + cross(parent.w + w, slide) + R @ rate[3:])
    return motions


def at_point(motion: WorldMotion, r: np.ndarray) -> WorldMotion:
    """Return the WorldMotion of the point fixed to a body at r from its origin, world axes."""
    around = cross(motion.w, r)
    return WorldMotion(motion.w, motion.v + around, motion.alpha,
                       motion.acc + cross(motion.alpha, r) + cross(motion.w, around))
