"""Compute the gravity stiffness: the derivative of the gravity torques by q."""

import numpy as np

from dynamics_node.algorithms.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from dynamics_node.model.model import Model


def gravity_stiffness(model: Model, q: np.ndarray) -> np.ndarray:
    r"""Return dg/dq along the tangent of q, (nv, nv) [N m/rad, N/rad, N m/m or N/m].

    Where v = dq/dt it is the Hessian of the potential energy, symmetric. The rows of a floating
    joint are not symmetric: a rotation also rotates the axes in which its force is expressed.
    """
    still = np.zeros(model.nv)
    return inverse_dynamics_derivatives(model.with_(springs=()), q, still, still).dq
