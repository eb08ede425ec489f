"""Compute the Jacobian of a point of a link, in the world or relative to another link."""

import numpy as np


def point_jacobian(pose: np.ndarray, J: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Return J with (linear, angular) velocity of the point = J v, in world axes, (.., 6, nv).

    v_P = v + w x r, r from the frame's origin to the point.

    :param pose, J: of the frame, (.., 4, 4) and (.., 6, nv) in world axes.
    :param point: in the frame's axes [m], (3,).
    """
    return _moved(J, pose[..., :3, :3] @ point)


def relative_jacobian(pose: np.ndarray, J: np.ndarray, other_pose: np.ndarray,
                      other_J: np.ndarray) -> np.ndarray:
    """Return J with the velocity of a point as seen from another frame = J v, (.., 6, nv).

    (v - v_B - w_B x (p - p_B), w - w_B), in the axes of B, which is the other frame.
    Hutter 2017, eq. 2.153 and 2.154, is the difference of two Jacobians at one point.

    :param pose: (.., 4, 4), its position is that of the point; J: of the point, (.., 6, nv).
    :param other_pose, other_J: of the other frame.
    """
    carried = _moved(other_J, pose[..., :3, 3] - other_pose[..., :3, 3])
    R = other_pose[..., :3, :3].swapaxes(-1, -2)
    difference = J - carried
    return np.concatenate([R @ difference[..., :3, :], R @ difference[..., 3:, :]], axis=-2)


def _moved(J: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return the Jacobian of the point at r from the origin, on the same body, world axes."""
    linear = J[..., :3, :] + np.cross(J[..., 3:, :], r[..., :, None], axis=-2)
    return np.concatenate([linear, J[..., 3:, :]], axis=-2)
