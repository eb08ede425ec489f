"""Convert positions to cylindrical and spherical coordinates (Hutter 2017, section 2.2).

kind           chi                                    where chi is not unique
'cartesian'    x, y, z [m]                            nowhere
'cylindrical'  rho [m], theta [rad], z [m]            rho = 0: theta = 0 is returned
'spherical'    r [m], theta, phi [rad]                on the z axis: theta = 0 is returned

theta is the angle about z from x, phi the angle from z. Any number of positions at once, (.., 3).
"""

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.errors import DynamicsError, shown
from dynamics_node.spatial.rotations import numbers

POSITIONS = ('cartesian', 'cylindrical', 'spherical')


def from_cartesian(kind: str, r: ArrayLike) -> np.ndarray:
    """Return the parameters chi, (.., 3), of the positions r, (.., 3): rho, r >= 0, phi <= pi."""
    r = checked('cartesian', r)
    _known(kind)
    if kind == 'cartesian':
        return r
    x, y, z = np.moveaxis(r, -1, 0)
    rho, theta = np.hypot(x, y), np.arctan2(y, x)
    if kind == 'cylindrical':
        return np.stack([rho, theta, z], axis=-1)
    return np.stack([np.hypot(rho, z), theta, np.arctan2(rho, z)], axis=-1)


def checked(kind: str, chi: ArrayLike) -> np.ndarray:
    """Return chi as an array of finite numbers, (.., 3).

    :raise DynamicsError: an unknown kind, a wrong shape, or a number that is not finite.
    """
    _known(kind)
    chi = numbers(kind, chi)
    if chi.dtype.kind not in 'fiuc' or chi.shape[-1:] != (3,):
        raise DynamicsError(f'{kind}: expected numbers of shape (3,) or (.., 3), got '
                            f'{chi.dtype} of shape {chi.shape}')
    if not np.isfinite(chi).all():
        raise DynamicsError(f'{kind}: every entry must be finite')
    return chi


def _known(kind: object) -> None:
    if not isinstance(kind, str) or kind not in list(POSITIONS):
        raise DynamicsError(f'position is {shown(kind)}; expected one of {", ".join(POSITIONS)}')
