"""Compute the directional derivative of joint friction."""

from dynamics_node.algorithms.friction import friction_slope, friction_torque


def friction_directional_derivative(model, v, d):
    """Return d/dp of `friction_torque` along a complete ParameterDirection, (nv,).

    The torque is linear in damping and friction: their rates replace them in the first term.
    """
    rates = model.with_(damping=d.ddamping, friction=d.dfriction)
    return friction_torque(rates, v) + friction_slope(model, v) * d.dv
