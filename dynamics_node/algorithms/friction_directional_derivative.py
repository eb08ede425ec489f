"""Compute the directional derivative of joint friction."""

import numpy as np

from dynamics_node.algorithms.friction import friction_slope
from dynamics_node.algorithms.parameter_direction import ParameterDirection
from dynamics_node.model.model import Model


def friction_directional_derivative(model: Model, v: np.ndarray,
                                    d: ParameterDirection) -> np.ndarray:
    """Return d/dp of `friction_torque` along a complete ParameterDirection, (nv,).

    The torque is linear in damping and friction; further terms of friction are constant.
    """
    smooth_sign = v / np.sqrt(v * v + model.friction_speeds ** 2)
    return d.ddamping * v + d.dfriction * smooth_sign + friction_slope(model, v) * d.dv
