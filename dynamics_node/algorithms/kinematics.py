"""Compute forward kinematics: poses and velocities of bodies and frames."""

import numpy as np

from dynamics_node.algorithms.tree_recursions import forward_recursion, joints_at, per_body
from dynamics_node.model.model import WORLD, Model
from dynamics_node.spatial import se3
from dynamics_node.spatial.se3 import Ad_inv, Pose


def body_poses(model: Model, T: list[Pose]) -> list[Pose]:
    """Return the pose of every body in the world, the world's (identity) last."""
    poses = per_body(model, se3.IDENTITY)
    for i, body in enumerate(model.bodies):
        poses[i] = poses[body.parent] @ T[i]
    return poses


def body_pose_matrices(model: Model, q: np.ndarray) -> np.ndarray:
    """Return the homogeneous matrix of every body in the world, (bodies, 4, 4)."""
    poses = body_poses(model, joints_at(model, q)[0])[:-1]
    return np.array([pose.matrix() for pose in poses]).reshape(-1, 4, 4)


def path_to(model: Model, body: int) -> list[int]:
    """Return the bodies from the root to `body`, both included; [] for the world."""
    return [] if body == WORLD else [*reversed([*model.ancestors(body)]), body]


def frame_pose(model: Model, q: np.ndarray, frame: str) -> np.ndarray:
    """Return the homogeneous matrix T of the frame in the world: p_world = T p_frame, (4, 4)."""
    where = model.frame(frame)
    T, _ = joints_at(model, q)
    pose = se3.IDENTITY
    for i in path_to(model, where.body):
        pose = pose @ T[i]
    return (pose @ where.pose).matrix()


def frame_twist(model: Model, q: np.ndarray, v: np.ndarray, frame: str) -> np.ndarray:
    """Return the frame's velocity (linear, angular) at its origin in world axes, (6,)."""
    where = model.frame(frame)
    T, _, V, _ = forward_recursion(model, q, v)
    w, linear = np.split(Ad_inv(where.pose, V[where.body]), 2)
    R = (body_poses(model, T)[where.body] @ where.pose).R
    return np.concatenate([R @ linear, R @ w])
