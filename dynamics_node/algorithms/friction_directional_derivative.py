"""Compute the directional derivative of joint friction."""

import numpy as np

from dynamics_node.algorithms.friction import friction_slope, friction_torque
from dynamics_node.algorithms.parameter_direction import ParameterDirection
from dynamics_node.model.model import Model


def friction_directional_derivative(model: Model, v: np.ndarray,
                                    d: ParameterDirection) -> np.ndarray:
    """Return d/dp of `friction_torque` along a complete ParameterDirection, (nv,).

    The torque is linear in damping and friction: their rates replace them in the first term.
    Further terms of friction are constant.
    """
    rates = model.with_(damping=d.ddamping, friction=d.dfriction, friction_terms=None)
    return friction_torque(rates, v) + friction_slope(model, v) * d.dv
