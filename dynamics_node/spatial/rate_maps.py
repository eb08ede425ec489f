r"""How fast do the parameters of a position or a rotation change when the body moves?

velocity = E(chi) chi',   chi' = E(chi)^-1 velocity:

of a position its velocity, of a rotation the angular velocity, both in the axes of A (the world's).
The rates of a 'matrix' are nine, row by row. Where a kind has more than three parameters they are
bound (unit length, orthogonal axes): E is zero on rates that would break the bond and E^-1 makes
none, so that E E^-1 = 1 always, and E^-1 E chi' = chi' for rates that keep it.

Seed 001, eq. 2.10-2.17 and 2.82-2.107. There E of the angle and axis (2.102) has no factor
1 - n n', without which it is right only for n . n' = 0; and the last terms of 2.95 read omega.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.errors import SingularParametrisation
from dynamics_node.spatial import positions, rotations, so3
from dynamics_node.spatial.rotations import skew

# Where the parameters would have to move a million times faster than the body does there is no
# answer: that is within 0.3 arc seconds of the lock of Euler angles.
SINGULAR = 1e-6


class InverseRateMap(NamedTuple):
    """E^-1, and how far from singular it is."""

    matrix: np.ndarray     # (n, 3), or (.., n, 3)
    clearance: np.ndarray  # () or (..): 1 / |E^-1|, so that |chi'| <= |velocity| / clearance


def rate_map(kind, chi):
    """Return E with velocity = E chi', (.., 3, n).

    :param kind: of positions.POSITIONS or rotations.SIZES.
    """
    if kind in positions.POSITIONS:
        return _position_map(kind, positions.checked(kind, chi))
    chi = rotations.checked(kind, chi)
    if kind == 'matrix':
        return _matrix_map(chi)
    if kind == 'quaternion':
        return _quaternion_map(chi)
    if kind == 'angle_axis':
        return _angle_axis_map(chi)
    if kind == 'rotation_vector':
        return rotations.each(so3.exp_jacobian, chi, 1)  # eq. 2.106
    return _euler_map(kind, chi)


def inverse_rate_map(kind, chi):
    """Return the InverseRateMap: E^-1, (.., n, 3), and its clearance.

    :raise SingularParametrisation: some motion of the body is none of the parameters, or nearly so:
        the clearance of one chi is below SINGULAR.
    """
    U, s, Vt = np.linalg.svd(rate_map(kind, chi), full_matrices=False)
    clearance = s[..., -1]
    if (clearance < SINGULAR).any():
        where = np.unravel_index(np.argmin(clearance), clearance.shape)
        raise SingularParametrisation(kind, np.asarray(chi)[where], float(clearance[where]))
    matrix = np.swapaxes(Vt, -1, -2) / s[..., None, :] @ np.swapaxes(U, -1, -2)
    return InverseRateMap(matrix, clearance)


def _position_map(kind, chi):
    """Eq. 2.12, 2.15, 2.16: the columns are the unit vectors, times their lever."""
    if kind == 'cartesian':
        return np.broadcast_to(np.eye(3), (*chi.shape, 3)).copy()
    distance, theta, phi = np.moveaxis(chi, -1, 0)
    c, s, no = np.cos(theta), np.sin(theta), np.zeros_like(theta)
    if kind == 'cylindrical':
        return _columns([c, s, no], [-distance * s, distance * c, no], [no, no, no + 1.0])
    rho, z = distance * np.sin(phi), distance * np.cos(phi)
    return _columns([c * np.sin(phi), s * np.sin(phi), np.cos(phi)], [-rho * s, rho * c, no],
                    [z * c, z * s, -rho])


def _euler_map(kind, chi):
    """Columns: the three axes, turned by the angles before them (eq. 2.86, 2.88, 2.90, 2.92)."""
    i, j, k = rotations.euler_axes(kind)
    once = rotations.about(i, chi[..., 0])
    twice = once @ rotations.about(j, chi[..., 1])
    fixed = np.broadcast_to(np.eye(3)[i], chi.shape)
    return np.stack([fixed, once[..., :, j], twice[..., :, k]], axis=-1)


def _quaternion_map(chi):
    """E = 2 [w 1 + [u], -u] for (u, w) = chi (eq. 2.96, 2.98)."""
    u, w = chi[..., :3], chi[..., 3:]
    return 2.0 * np.concatenate([skew(u) + w[..., None] * np.eye(3), -u[..., None]], axis=-1)


def _angle_axis_map(chi):
    """E = [n, (sin t 1 + (1 - cos t) [n]) (1 - n n')] (eq. 2.102), where 1 - n n' = -[n]^2."""
    angle, N = chi[..., :1, None], skew(chi[..., 1:])
    turned = -np.sin(angle) * (N @ N) + (1.0 - np.cos(angle)) * N
    return np.concatenate([chi[..., 1:, None], turned], axis=-1)


def _matrix_map(R):
    """From R' = [omega] R: omega_i is half of the sum of [e_i] R times R', entry by entry."""
    turned = skew(np.eye(3)) @ R[..., None, :, :]
    return 0.5 * turned.reshape(*R.shape[:-2], 3, 9)


def _columns(*columns):
    return np.stack([np.stack(column, axis=-1) for column in columns], axis=-1)
