"""What answers are called that come together, where the algorithm's own tuple has more in it."""

from typing import NamedTuple

import numpy as np


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of the acceleration: rows are accelerations, column k is the change of k."""

    dq: np.ndarray    # (nv, nv) along unit velocities
    dv: np.ndarray    # (nv, nv)
    dtau: np.ndarray  # (nv, nv) the inverse of the mass matrix


class HybridDynamicsDerivatives(NamedTuple):
    """Derivatives of what hybrid dynamics finds by what it is told.

    Found is the torque of k where its acceleration is given, else its acceleration; known is the
    other.
    """

    dq: np.ndarray      # (nv, nv) along unit velocities
    dv: np.ndarray      # (nv, nv)
    dknown: np.ndarray  # (nv, nv)


class HybridChange(NamedTuple):
    """How accelerations and torques change along a direction, the given ones among them."""

    da: np.ndarray    # (nv,)
    dtau: np.ndarray  # (nv,)


class HessianProduct(NamedTuple):
    """How the gradients of one scalar by q, v and a change along a direction."""

    dq: np.ndarray  # (nv,) along unit velocities
    dv: np.ndarray  # (nv,)
    da: np.ndarray  # (nv,)
