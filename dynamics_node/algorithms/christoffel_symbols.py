"""Compute the Christoffel symbols of the mass matrix."""

import numpy as np

from dynamics_node.algorithms.coriolis_matrix import coriolis_matrix
from dynamics_node.model.model import Model


def christoffel_symbols(model: Model, q: np.ndarray) -> np.ndarray:
    r"""Return Gamma with C_ij(q, v) = sum_k Gamma_ijk v_k, of the first kind, (nv, nv, nv).

    Gamma_ijk = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i)  where v = dq/dt, symmetric in j and k.
    The twist of a floating joint is not a rate of coordinates. For it (torsion-free connection)
    Gamma_ijk - Gamma_ikj = (M ad_{e_k} e_j)_i,  which vanishes in C v.
    """
    by_k = [coriolis_matrix(model, q, unit) for unit in np.eye(model.nv)]
    return np.moveaxis(np.array(by_k).reshape(3 * (model.nv,)), 0, -1)
