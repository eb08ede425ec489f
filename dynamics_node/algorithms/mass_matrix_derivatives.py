"""Compute the derivatives of the mass matrix by each coordinate."""

import numpy as np

from dynamics_node.algorithms.christoffel_symbols import christoffel_symbols
from dynamics_node.model.model import Model


def mass_matrix_derivatives(model: Model, q: np.ndarray) -> np.ndarray:
    r"""Return dM/dq_k for every k along the tangent of q, first index k, (nv, nv, nv).

    Along any motion dM/dt = C + C' (dM/dt - 2 C is skew), and C is linear in v:
    dM/dq_k = C(q, e_k) + C(q, e_k)'.
    """
    by_k = np.moveaxis(christoffel_symbols(model, q), -1, 0)
    return by_k + np.swapaxes(by_k, 1, 2)
