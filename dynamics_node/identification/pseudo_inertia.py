r"""Decide whether ten inertial parameters belong to a body, by their pseudo-inertia.

They belong to a distribution of positive mass if and only if their pseudo-inertia

    P = [[S, h], [h', m]],    S = tr(I)/2 1 - I the second moment, h the first moment,

is positive definite (Wensing, Kim and Slotine 2018). P is linear in the parameters, so the set of
such bodies is convex.
"""

import numpy as np

from dynamics_node.algorithms.inertial_parameters import inertia_of, ten_numbers
from dynamics_node.spatial.inertia import Inertia

LIGHTEST = 1e-3    # [kg] of a link whose URDF has no valid mass
THINNEST = 1e-3    # [m] radius about the centre of mass of a link whose URDF has no valid inertia


def pseudo_inertia(ten: np.ndarray) -> np.ndarray:
    """Return P of ten inertial parameters, (..., 4, 4) of (..., 10)."""
    return np.tensordot(ten, UNITS, 1)


def _pseudo_inertia(ten: np.ndarray) -> np.ndarray:
    m, x, y, z, xx, xy, yy, xz, yz, zz = ten
    half = 0.5 * (xx + yy + zz)
    return np.array([[half - xx, -xy, -xz, x],
                     [-xy, half - yy, -yz, y],
                     [-xz, -yz, half - zz, z],
                     [x, y, z, m]])


UNITS = np.stack([_pseudo_inertia(unit) for unit in np.eye(10)])   # (10, 4, 4) dP / d(ten)


def ten_of(P: np.ndarray) -> np.ndarray:
    """Return the ten inertial parameters of a pseudo-inertia, (10,)."""
    S = P[:3, :3]
    return ten_numbers(Inertia(P[3, 3], P[:3, 3], np.trace(S) * np.eye(3) - S))


def upper_cholesky(P: np.ndarray) -> np.ndarray:
    """Return the upper triangular U with P = U U': an affine map of the points of a body."""
    return np.linalg.cholesky(P[::-1, ::-1])[::-1, ::-1]


def is_consistent(ten: np.ndarray) -> bool:
    """Return whether ten inertial parameters are those of a body of positive mass."""
    try:
        return bool(np.isfinite(np.linalg.cholesky(pseudo_inertia(ten))).all())
    except np.linalg.LinAlgError:
        return False


def nearest_consistent(ten: np.ndarray) -> np.ndarray:
    """Return the ten inertial parameters of a similar body that is consistent, (10,).

    The mass is at least 1 g, and each principal second moment about the centre of mass at least
    mass (1 mm)^2. A body well inside these bounds is returned unchanged.
    """
    inertia = inertia_of(ten)
    mass = max(inertia.mass, LIGHTEST)
    com = inertia.com if inertia.mass >= mass else np.zeros(3)
    second = inertia.second_moment - mass * np.outer(com, com)
    moments, axes = np.linalg.eigh(0.5 * (second + second.T))
    least = mass * THINNEST ** 2
    if inertia.mass >= mass and moments[0] >= least:
        return np.array(ten, dtype=float)
    second = (axes * np.maximum(moments, least)) @ axes.T + mass * np.outer(com, com)
    return ten_numbers(Inertia(mass, mass * com, np.trace(second) * np.eye(3) - second))
