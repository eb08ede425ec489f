r"""Compute the row of a constraint between joint coordinates: couplings and expressions.

An expression f(q) = 0 has the residual f and the row A v = f', its rate. An expression f(q, v) = 0
that is linear in v is the row A v itself; it has no residual, since it need not be the rate of any
function of q (non-holonomic). A and gamma are derivatives by dual numbers.
"""

from collections.abc import Callable
from typing import Any

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
        values = np.array([q[k] for k, _ in places])
        entries = [_rate(constraint, values, unit) for unit in np.eye(len(places))]
    row = [0.0] * model.nv
    for (_, k), entry in zip(places, entries):
        row[k] = row[k] + entry
    return [row]


def coordinate_gamma(model: Model, constraint: Constraint, q: np.ndarray, v: np.ndarray
                     ) -> np.ndarray:
    """Return the rate of A v at constant v, (1,)."""
    if constraint.kind == 'coupling':
        return np.zeros(1)
    places = coordinates_of(model, constraint)
    rates = np.array([v[k] for _, k in places])
    return np.array([_along(lambda values: _rate(constraint, values, rates),
                            np.array([q[k] for k, _ in places]), rates)])


def _rate(constraint, values, rates):
    """Return A v."""
    f, has_velocities = constraint.function
    return f(values, rates) if has_velocities else _along(f, values, rates)


def _along(function: Callable[[np.ndarray], Any], values: np.ndarray, rates: np.ndarray) -> Any:
    """Return the derivative of a function of some values along their rates, a number."""
    return slopes_of(np.array([function(dual_vector(values, rates[:, None]))]), 1)[0, 0]
