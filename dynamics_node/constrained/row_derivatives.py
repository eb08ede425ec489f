"""How do constraint forces and constraint errors change with position and velocity?"""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.dual import slopes_of, state_varying_with_q_and_v
from dynamics_node.constrained.rows import rows
from dynamics_node.constrained.stabilisation import stabilised_gamma


class RowDerivatives(NamedTuple):
    """Derivatives along the tangent of q and by v, while a and lambda stay."""

    force_dq: np.ndarray   # d(A' lambda)/dq (nv, nv)
    error_dq: np.ndarray   # d(A a + gamma)/dq (m, nv)
    error_dv: np.ndarray   # d(A a + gamma)/dv (m, nv)
    matrix_dq: np.ndarray  # dA/dq (m, nv, nv)


def row_derivatives(model, q, v, a, multipliers, constraints, stabilisation=None):
    """Return the RowDerivatives: `rows` run once on numbers that carry their derivatives.

    With stabilisation, of all that A a should cancel (see `stabilisation.stabilised_gamma`).
    """
    n = model.nv
    q, v = state_varying_with_q_and_v(model, q, v)
    found = rows(model, q, v, constraints)
    error = slopes_of(found.A @ a + stabilised_gamma(found, v, stabilisation), 2 * n)
    matrix = slopes_of(found.A, 2 * n)[..., :n]
    force = np.sum(matrix * multipliers[:, None, None], axis=0)
    return RowDerivatives(force, error[:, :n], error[:, n:], matrix)
