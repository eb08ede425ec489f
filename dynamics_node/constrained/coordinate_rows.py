r"""Compute the row of a constraint between joint coordinates: couplings and expressions.

An expression f(q) = 0 has the residual f and the row A v = f', its rate. An expression f(q, v) = 0
that is linear in v is the row A v itself; it has no residual, since it need not be the rate of any
function of q (non-holonomic). A and gamma are derivatives by dual numbers.
"""

import numpy as np

from dynamics_node.algorithms.dual import dual_vector, slopes_of
from dynamics_node.constrained.constraint import Constraint, coordinates_of
from dynamics_node.model.model import Model


def coordinate_residual(model: Model, constraint: Constraint, q: np.ndarray) -> np.ndarray:
    """Return q_i - ratio q_j - offset of a coupling, f(q) of an expression, (1,) [m or rad]."""
    values = np.array([q[k] for k, _ in coordinates_of(model, constraint)])
    if constraint.kind == 'coupling':
        return np.array([values[0] - constraint.ratio * values[1] - constraint.offset])
    f, has_velocities = constraint.function
    return np.zeros(1) if has_velocities else np.array([f(values)])


def coordinate_matrix(model: Model, constraint: Constraint, q: np.ndarray) -> list[list]:
    """Return A as one list of nv entries."""
    places = coordinates_of(model, constraint)
    entries = [1.0, -constraint.ratio]
    if constraint.kind == 'expression':
        entries = list(_entries(constraint, np.array([q[k] for k, _ in places])))
    row = [0.0] * model.nv
    for (_, k), entry in zip(places, entries):
        row[k] = row[k] + entry
    return [row]


def coordinate_gamma(model: Model, constraint: Constraint, q: np.ndarray, v: np.ndarray
                     ) -> np.ndarray:
    """Return the rate of A v at constant v, (1,): the sum of v_j v_k dA_j/dq_k."""
    if constraint.kind == 'coupling':
        return np.zeros(1)
    places = coordinates_of(model, constraint)
    values, rates = np.array([q[k] for k, _ in places]), np.array([v[k] for _, k in places])
    # By the coordinates, not along v: v may be a dual number of an outer derivative, which
    # arithmetic could not tell from one of this derivative.
    slopes = slopes_of(_entries(constraint, dual_vector(values, np.eye(len(values)))), len(values))
    return np.array([rates @ (slopes @ rates)])


def _entries(constraint: Constraint, values: np.ndarray) -> np.ndarray:
    """Return A by the coordinates with these values, (k,)."""
    f, has_velocities = constraint.function
    units = np.eye(len(values))
    if has_velocities:
        return np.array([f(values, unit) for unit in units])
    return slopes_of(np.array([f(dual_vector(values, units))]), len(values))[0]
