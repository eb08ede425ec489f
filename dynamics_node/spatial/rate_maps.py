r"""Compute the maps between velocities and the rates of position or rotation parameters.

velocity = E(chi) chi',   chi' = E(chi)^-1 velocity.

The velocity is that of the position, or the angular velocity of the rotation, in the axes of A (the
world). The rates of a 'matrix' are nine, row by row. Kinds with more than three parameters obey a
condition (unit length, orthogonal axes): E is zero on rates that violate it, and E^-1 returns only
rates that satisfy it. So E E^-1 = 1 always, and E^-1 E chi' = chi' for rates that satisfy it.

Hutter 2017, eq. 2.10-2.17 and 2.82-2.107, with two corrections: E of angle and axis (2.102) lacks
the factor 1 - n n', without which it holds only for n . n' = 0; the last terms of 2.95 are omega.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.errors import SingularParametrisation
from dynamics_node.spatial import positions, rotations, so3
from dynamics_node.spatial.rotations import skew

# Least clearance: the parameters then move a million times faster than the body. Euler angles reach
# it within 0.3 arc seconds of gimbal lock.
SINGULAR = 1e-6


class InverseRateMap(NamedTuple):
    """E^-1, and its distance from a singularity."""

    matrix: np.ndarray     # (n, 3), or (.., n, 3)
    clearance: np.ndarray  # () or (..): 1 / |E^-1|, so that |chi'| <= |velocity| / clearance


def rate_map(kind: str, chi: ArrayLike) -> np.ndarray:
    """Return E with velocity = E chi', (.., 3, n).

    :param kind: one of positions.POSITIONS or rotations.SIZES.
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


def inverse_rate_map(kind: str, chi: ArrayLike) -> InverseRateMap:
    """Return the InverseRateMap: E^-1, (.., n, 3), and its clearance.

    :raise SingularParametrisation: no rate of the parameters gives some motion of the body: the
        clearance of one chi is below SINGULAR.
    """
    U, s, Vt = np.linalg.svd(rate_map(kind, chi), full_matrices=False)
    clearance = s[..., -1]
    if (clearance < SINGULAR).any():
        where = np.unravel_index(np.argmin(clearance), clearance.shape)
        raise SingularParametrisation(kind, np.asarray(chi)[where], float(clearance[where]))
    matrix = np.swapaxes(Vt, -1, -2) / s[..., None, :] @ np.swapaxes(U, -1, -2)
    return InverseRateMap(matrix, clearance)


def _position_map(kind: str, chi: np.ndarray) -> np.ndarray:
    """Return E by eq. 2.12, 2.15, 2.16: the columns are the unit vectors times their levers."""
    if kind == 'cartesian':
        return np.broadcast_to(np.eye(3), (*chi.shape, 3)).copy()
    distance, theta, phi = np.moveaxis(chi, -1, 0)
    c, s, no = np.cos(theta), np.sin(theta), np.zeros_like(theta)
    if kind == 'cylindrical':
        return _columns([c, s, no], [-distance * s, distance * c, no], [no, no, no + 1.0])
    rho, z = distance * np.sin(phi), distance * np.cos(phi)
    return _columns([c * np.sin(phi), s * np.sin(phi), np.cos(phi)], [-rho * s, rho * c, no],
                    [z * c, z * s, -rho])


def _euler_map(kind: str, chi: np.ndarray) -> np.ndarray:
    """Return E: its columns are the axes, rotated by the angles before (eq. 2.86 to 2.92)."""
    i, j, k = rotations.euler_axes(kind)
    once = rotations.about(i, chi[..., 0])
    twice = once @ rotations.about(j, chi[..., 1])
    fixed = np.broadcast_to(np.eye(3)[i], chi.shape)
    return np.stack([fixed, once[..., :, j], twice[..., :, k]], axis=-1)


def _quaternion_map(chi: np.ndarray) -> np.ndarray:
    """Return E = 2 [w 1 + [u], -u] for (u, w) = chi (eq. 2.96, 2.98)."""
    u, w = chi[..., :3], chi[..., 3:]
    return 2.0 * np.concatenate([skew(u) + w[..., None] * np.eye(3), -u[..., None]], axis=-1)


def _angle_axis_map(chi: np.ndarray) -> np.ndarray:
    """Return [n, (sin t 1 + (1 - cos t) [n]) (1 - n n')] (eq. 2.102); 1 - n n' = -[n]^2."""
    angle, N = chi[..., :1, None], skew(chi[..., 1:])
    turned = -np.sin(angle) * (N @ N) + (1.0 - np.cos(angle)) * N
    return np.concatenate([chi[..., 1:, None], turned], axis=-1)


def _matrix_map(R: np.ndarray) -> np.ndarray:
    """Return E from dR/dt = [omega] R: omega_i is half the sum of ([e_i] R) * dR/dt by entries."""
    turned = skew(np.eye(3)) @ R[..., None, :, :]
    return 0.5 * turned.reshape(*R.shape[:-2], 3, 9)


def _columns(*columns: Sequence[np.ndarray]) -> np.ndarray:
    return np.stack([np.stack(column, axis=-1) for column in columns], axis=-1)
