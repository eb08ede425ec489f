r"""Compute ellipsoids and measures of manipulability of frames (float only).

The rows w = J v are axes of one frame or of several.

    velocity   |v| = 1         w' (J J')^-1 w = 1             radii: singular values of J
    force      |tau| = 1       F' (J J') F = 1                the same axes, inverse radii
    dynamic    |tau| = 1, v = 0, no gravity: dw/dt = J M^-1 tau   radii: singular values of J M^-1

The measure of an ellipsoid is the product of its radii, which is proportional to its volume
(Yoshikawa 1985): zero at a singularity. Lambda = mobility^-1 with mobility = J M^-1 J' is the
inertia that a force at the frame meets (Modern Robotics, chapter 8): along the unit vector d of
rows that are otherwise free, the effective mass is 1 / (d' mobility d).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import check_single
from dynamics_node.errors import DynamicsError


class Manipulability(NamedTuple):
    """Ellipsoids of m rows, for one state or N of them; column k of axes belongs to radius k.

    The rows are metres or radians, joint coordinates too: choose linear axes only, or angular axes
    only, and compare measures of one robot.
    """

    velocity_axes: np.ndarray    # (m, m) unit vectors; those of the force ellipsoid too
    velocity_radii: np.ndarray   # (m,) descending, at joint velocities of norm 1
    force_radii: np.ndarray      # (m,) at joint torques of norm 1; inf where no joint moves the row
    velocity_measure: np.ndarray   # product of velocity_radii, a number
    condition_number: np.ndarray   # greatest by least velocity radius, a number; inf if singular
    dynamic_axes: np.ndarray     # (m, m) unit vectors
    dynamic_radii: np.ndarray    # (m,) descending, accelerations at joint torques of norm 1
    dynamic_measure: np.ndarray    # product of dynamic_radii, a number
    mobility: np.ndarray         # J M^-1 J', (m, m) [1/kg, 1/(kg m), 1/(kg m^2)]

    def effective_mass(self, direction: ArrayLike) -> np.ndarray:
        """Return the mass along a direction of the rows [kg or kg m^2]; inf where nothing moves.

        :param direction: (m,) of any length.
        """
        d = check_single('direction', direction, self.mobility.shape[-1])
        length = np.linalg.norm(d)
        if not length > 0.0:
            raise DynamicsError('direction is zero; expected a vector that is not')
        with np.errstate(divide='ignore'):
            return 1.0 / np.maximum(d / length @ self.mobility @ (d / length), 0.0)


# A radius below this share of the largest is zero but for rounding.
LOST_BELOW = 1e-12


def manipulability(J: np.ndarray, inverse: np.ndarray) -> Manipulability:
    """Return the Manipulability of the rows J, (.., m, nv).

    :param inverse: M^-1, (.., nv, nv).
    """
    axes, radii = _ellipsoid(J)
    dynamic_axes, dynamic_radii = _ellipsoid(J @ inverse)
    with np.errstate(divide='ignore'):
        force = 1.0 / radii
    greatest, least = radii[..., 0], radii[..., -1]
    condition = np.divide(greatest, least, out=np.full_like(least, np.inf), where=least > 0.0)
    return Manipulability(axes, radii, force, radii.prod(axis=-1), condition, dynamic_axes,
                          dynamic_radii, dynamic_radii.prod(axis=-1),
                          J @ inverse @ J.swapaxes(-1, -2))


def _ellipsoid(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return axes (.., m, m) and radii (.., m) of the image of the unit ball under A."""
    m, n = A.shape[-2:]
    U, s, _ = np.linalg.svd(A, full_matrices=True)
    radii = np.zeros((*A.shape[:-2], m))
    radii[..., :min(m, n)] = np.where(s > LOST_BELOW * s[..., :1], s, 0.0)
    return U, radii
