"""Where are all bodies, and how do they move, in the axes of the world?

Constraints compare bodies of different branches. In world axes nothing has to be carried from one
to the other, and every constraint shares what is calculated here once.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.recursion import joints_at, per_body, subspace_rate
from dynamics_node.spatial.so3 import cross


class WorldPlacements(NamedTuple):
    """Where the bodies are, and along which twists their joints move them."""

    poses: list         # Pose of each body, the world's last
    which: list         # k pairs (body, entry of v that moves its joint); mimics share theirs
    turn: np.ndarray    # (3, k) angular velocity that a unit of it gives the body
    slide: np.ndarray   # (3, k) velocity that it gives the body's origin
    origin: np.ndarray  # (3, k) the body's origin


def world_placements(model, q):
    """Return the Places of the bodies."""
    T, S = joints_at(model, q)
    poses = body_poses(model, T)
    which, turn, slide, origin = [], [], [], []
    for i, body in enumerate(model.bodies):
        R, p = poses[i]
        which += [(i, k) for k in range(body.v.start, body.v.stop)]
        turn += [*(R @ S[i][:3]).T]
        slide += [*(R @ S[i][3:]).T]
        origin += [p] * S[i].shape[1]
    return WorldPlacements(poses, which,
                  *(np.array(columns).reshape(-1, 3).T for columns in (turn, slide, origin)))


class WorldMotion(NamedTuple):
    """How a body moves, and accelerates while no joint does, in world axes."""

    w: np.ndarray      # angular velocity
    v: np.ndarray      # velocity of the origin
    alpha: np.ndarray  # angular acceleration
    acc: np.ndarray    # acceleration of the origin


def world_motions(model, q, v, placements):
    """Return the Moving of every body, the world's last, for joints that do not accelerate.

    What the parent's motion does to a point that is fixed to it, plus the joint's own; the joint's
    velocity turns with both its ends, hence w_parent + w.
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


def at_point(motion, r):
    """Return how the point moves that is fixed to a body at r from its origin, world axes."""
    around = cross(motion.w, r)
    return WorldMotion(motion.w, motion.v + around, motion.alpha,
                  motion.acc + cross(motion.alpha, r) + cross(motion.w, around))
