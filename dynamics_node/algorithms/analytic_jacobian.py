"""Compute analytic Jacobians: joint velocities to rates of pose parameters (float only: an SVD)."""

import numpy as np

from dynamics_node.spatial import positions, rotations
from dynamics_node.spatial.rate_maps import inverse_rate_map


def analytic_jacobian(pose: np.ndarray, J: np.ndarray, rotation: str = 'euler_zyx',
                      position: str = 'cartesian') -> np.ndarray:
    r"""Return J_A with chi' = J_A v, chi = (position, rotation), (3 + n, nv).

    J = diag(E_P, E_R) J_A  (Hutter 2017, eq. 2.148, 2.189-2.192; E is 6 x m, transposed in 2.191).

    :param pose: homogeneous matrix of the frame in the world, (.., 4, 4).
    :param J: its geometric Jacobian in world axes, linear first, (.., 6, nv).
    :param rotation: of spatial.rotations, n = 3, 4 or 9 (row by row); position: of
        spatial.positions.
    :raise SingularParametrisation: the parameters are singular at this pose.
    """
    r = positions.from_cartesian(position, pose[..., :3, 3])
    chi = rotations.from_matrix(rotation, pose[..., :3, :3])
    return np.concatenate([inverse_rate_map(position, r).matrix @ J[..., :3, :],
                           inverse_rate_map(rotation, chi).matrix @ J[..., 3:, :]], axis=-2)
