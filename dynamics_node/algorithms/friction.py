"""Compute joint friction: viscous damping and smoothed Coulomb friction."""

import numpy as np

from dynamics_node.model.model import Model


def friction_torque(model: Model, v: np.ndarray) -> np.ndarray:
    r"""Return the torque that overcomes damping and friction at velocity v, (nv,) [N m or N].

    tau_f = d v + f v / sqrt(v^2 + v_s^2).

    Coulomb's sign(v) is smoothed over the speed v_s (`model.friction_speed`): with a noisy measured
    velocity near zero, sign(v) would chatter between +f and -f. At rest tau_f is zero.
    Inverse dynamics adds tau_f, forward dynamics subtracts it.
    """
    smooth_sign = v / np.sqrt(v * v + model.friction_speed ** 2)
    return model.damping * v + model.friction * smooth_sign


def friction_slope(model: Model, v: np.ndarray) -> np.ndarray:
    """Return the derivative of each joint's friction torque by its velocity, (nv,).

    d tau_f / dv = d + f v_s^2 / (v^2 + v_s^2)^(3/2).
    """
    square = v * v + model.friction_speed ** 2
    return model.damping + model.friction * (
        model.friction_speed ** 2 / (square * np.sqrt(square)))
