"""Compute the solid ellipsoid with the mass and inertia of a body, to draw inertias."""

from typing import NamedTuple

import numpy as np

from dynamics_node.spatial.inertia import Inertia

THINNEST = 1e-3  # [m] least half axis, so that rods, plates and unphysical inertias stay visible


class Ellipsoid(NamedTuple):
    """A solid ellipsoid of uniform density."""

    centre: np.ndarray      # (3,) [m]
    axes: np.ndarray        # (3, 3) right-handed unit vectors, as columns
    half_axes: np.ndarray   # (3,) along them [m]


def equivalent_ellipsoid(inertia: Inertia) -> Ellipsoid:
    """Return the Ellipsoid of an Inertia of positive mass, in the axes of the body.

    A solid ellipsoid has  I_1 = m (b^2 + c^2) / 5,  hence  a^2 = 5 (I_2 + I_3 - I_1) / (2 m).
    """
    moments, axes = np.linalg.eigh(inertia.tensor_about_com())
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    squares = 2.5 * (moments.sum() - 2.0 * moments) / inertia.mass
    return Ellipsoid(inertia.com, axes, np.sqrt(np.maximum(squares, THINNEST ** 2)))
