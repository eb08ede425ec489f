"""What the joints themselves take: damping and dry friction."""

import numpy as np


def friction_torque(model, v):
    r"""Return the torque that overcomes damping and friction at velocity v, (nv,) [N m or N].

    tau_f = d v + f v / sqrt(v^2 + v_s^2).

    Coulomb's sign(v) is smoothed over the speed v_s (`model.friction_speed`): a measured velocity
    is noisy around zero, where sign(v) would chatter between +f and -f. At rest it is zero.
    Inverse dynamics adds it, forward dynamics takes it off.
    """
    smooth_sign = v / np.sqrt(v * v + model.friction_speed ** 2)
    return model.damping * v + model.friction * smooth_sign


def friction_slope(model, v):
    """Return the derivative of each joint's friction torque by its velocity, (nv,).

    d tau_f / dv = d + f v_s^2 / (v^2 + v_s^2)^(3/2).
    """
    square = v * v + model.friction_speed ** 2
    return model.damping + model.friction * (
        model.friction_speed ** 2 / (square * np.sqrt(square)))
