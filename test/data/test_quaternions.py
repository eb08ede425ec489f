"""Test quaternions of many rotations against those of one rotation at a time."""

import numpy as np

from dynamics_node.data.quaternions import poses
from dynamics_node.spatial import so3


def matrices(rotations):
    T = np.tile(np.eye(4), (len(rotations), 1, 1))
    T[:, :3, :3] = rotations
    T[:, :3, 3] = np.arange(3 * len(rotations)).reshape(-1, 3)
    return T


def test_each_row_is_the_pose_of_its_matrix():
    """Random rotations, small ones, and half turns, where w is zero."""
    rng = np.random.default_rng(0)
    axes = rng.normal(size=(400, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    angles = np.concatenate([rng.uniform(-np.pi, np.pi, 200), np.full(100, 1e-9),
                             np.full(100, np.pi - 1e-9)])
    T = matrices([so3.exp(angle * axis) for angle, axis in zip(angles, axes)])
    found = poses(T)
    assert np.array_equal(found[:, :3], T[:, :3, 3])
    assert (found[:, 6] >= 0.0).all()
    assert np.abs(np.linalg.norm(found[:, 3:], axis=1) - 1.0).max() < 1e-15
    back = np.array([so3.from_quaternion(x) for x in found[:, 3:]])
    assert np.abs(back - T[:, :3, :3]).max() < 2e-15
    wanted = np.array([so3.to_quaternion(R) for R in T[:300, :3, :3]])
    assert np.abs(found[:300, 3:] - wanted).max() < 1e-15


def test_half_turns_about_the_axes():
    """One entry of the quaternion is 1, the others are exactly 0."""
    found = poses(matrices([np.diag(signs) for signs in (
        (1.0, -1.0, -1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0), (1.0, 1.0, 1.0))]))
    assert np.array_equal(np.abs(found[:, 3:]), np.eye(4))
