"""Compute the torques of friction and springs together: those that do not depend on inertia."""

import numpy as np

from dynamics_node.algorithms.friction import friction_slope, friction_torque
from dynamics_node.algorithms.friction_directional_derivative import friction_directional_derivative
from dynamics_node.algorithms.parameter_direction import ParameterDirection
from dynamics_node.algorithms.springs import (
    spring_directional_derivative,
    spring_slopes,
    spring_torque,
)
from dynamics_node.model.model import Model


def passive_torque(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the torques that overcome friction and balance springs, (nv,) [N m or N]."""
    friction = friction_torque(model, v)
    return friction + spring_torque(model, q, v) if model.springs else friction


def passive_slopes(model: Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of `passive_torque` by q, along its tangent, and v, (nv, nv) each."""
    friction = np.diag(friction_slope(model, v))
    if not model.springs:
        return np.zeros((model.nv, model.nv)), friction
    dq, dv = spring_slopes(model, q, v)
    return dq, dv + friction


def passive_directional_derivative(model: Model, q: np.ndarray, v: np.ndarray,
                                   d: ParameterDirection) -> np.ndarray:
    """Return d/dp of `passive_torque` along a complete ParameterDirection, (nv,)."""
    friction = friction_directional_derivative(model, v, d)
    if not model.springs:
        return friction
    return friction + spring_directional_derivative(model, q, v, d)
