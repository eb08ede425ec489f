"""Compute the derivatives of constraint forces and constraint errors by q and v (dual numbers)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.dual import (
    configuration_rates,
    dual_state,
    dual_vector,
    slopes_of,
)
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.rows import constraint_matrix, rows
from dynamics_node.constrained.stabilisation import Stabilisation, stabilised_gamma
from dynamics_node.model.model import Model


class RowDerivatives(NamedTuple):
    """Derivatives along the tangent of q and by v, at constant a and lambda."""

    force_dq: np.ndarray   # d(A' lambda)/dq (nv, nv)
    error_dq: np.ndarray   # d(A a + gamma)/dq (m, nv)
    error_dv: np.ndarray   # d(A a + gamma)/dv (m, nv)
    matrix_dq: np.ndarray  # dA/dq (m, nv, nv)


def row_derivatives(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                    multipliers: np.ndarray, constraints: Sequence[Constraint],
                    stabilisation: Stabilisation = None) -> RowDerivatives:
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


def matrix_rates(model: Model, q: np.ndarray, velocities: np.ndarray,
                 constraints: Sequence[Constraint]) -> np.ndarray:
    """Return dA/dt along each of some velocities (nv, k), (m, nv, k).

    From one run of `constraint_matrix` on dual numbers.
    """
    moving = dual_vector(q, configuration_rates(model, q) @ velocities)
    return slopes_of(constraint_matrix(model, moving, constraints), velocities.shape[1])
