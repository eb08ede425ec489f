"""Convert cylindrical and spherical coordinates to Cartesian: the inverse of from_cartesian."""

import numpy as np

from dynamics_node.spatial.positions import checked


def to_cartesian(kind, chi):
    """Return x, y, z, (.., 3), of the parameters chi, (.., 3) (eq. 2.4, 2.6, 2.8)."""
    chi = checked(kind, chi)
    if kind == 'cartesian':
        return chi
    distance, theta, third = np.moveaxis(chi, -1, 0)
    if kind == 'cylindrical':
        rho, z = distance, third
    else:
        rho, z = distance * np.sin(third), distance * np.cos(third)
    return np.stack([rho * np.cos(theta), rho * np.sin(theta), z], axis=-1)
