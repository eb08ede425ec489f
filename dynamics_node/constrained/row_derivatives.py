"""Compute the derivatives of constraint forces and constraint errors by q and v (dual numbers)."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.dual import dual_state, slopes_of
from dynamics_node.constrained.rows import rows
from dynamics_node.constrained.stabilisation import stabilised_gamma


class RowDerivatives(NamedTuple):
    """Derivatives along the tangent of q and by v, at constant a and lambda."""

    force_dq: np.ndarray   # d(A' lambda)/dq (nv, nv)
    error_dq: np.ndarray   # d(A a + gamma)/dq (m, nv)
    error_dv: np.ndarray   # d(A a + gamma)/dv (m, nv)
    matrix_dq: np.ndarray  # dA/dq (m, nv, nv)


def row_derivatives(model, q, v, a, multipliers, constraints, stabilisation=None):
    """Return the RowDerivatives, from one run of `rows` on dual numbers.

    With stabilisation, gamma is that of `stabilisation.stabilised_gamma`.
    """
    n = model.nv
    q, v = dual_state(model, q, v)
    found = rows(model, q, v, constraints)
    error = slopes_of(found.A @ a + stabilised_gamma(found, v, stabilisation), 2 * n)
    matrix = slopes_of(found.A, 2 * n)[..., :n]
    force = np.sum(matrix * multipliers[:, None, None], axis=0)
    return RowDerivatives(force, error[:, :n], error[:, n:], matrix)
