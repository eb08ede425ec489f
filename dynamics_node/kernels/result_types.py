"""Define result types of kernels whose algorithm returns more than the result, such as margins."""

from typing import NamedTuple

import numpy as np


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of the acceleration: rows are accelerations, column k is the change of k."""

    dq: np.ndarray    # (nv, nv) along unit velocities
    dv: np.ndarray    # (nv, nv)
    dtau: np.ndarray  # (nv, nv) the inverse of the mass matrix


class HybridDynamicsDerivatives(NamedTuple):
    """Derivatives of the unknowns of hybrid dynamics.

    The unknown of joint k is its torque where its acceleration is given, else its acceleration;
    the known quantity is the other one.
    """

    dq: np.ndarray      # (nv, nv) along unit velocities
    dv: np.ndarray      # (nv, nv)
    dknown: np.ndarray  # (nv, nv)


class HybridDirectionalDerivatives(NamedTuple):
    """Derivatives of all accelerations and torques along a direction."""

    da: np.ndarray    # (nv,)
    dtau: np.ndarray  # (nv,)


class HessianProduct(NamedTuple):
    """Derivatives along a direction of the gradients of a scalar by q, v and a."""

    dq: np.ndarray  # (nv,) along unit velocities
    dv: np.ndarray  # (nv,)
    da: np.ndarray  # (nv,)


class JointReactionsDerivatives(NamedTuple):
    """Derivatives of the wrenches of joint_reactions; the last axis is the change of entry k."""

    dq: np.ndarray  # (bodies, 6, nv) along unit velocities
    dv: np.ndarray  # (bodies, 6, nv)
    da: np.ndarray  # (bodies, 6, nv)
