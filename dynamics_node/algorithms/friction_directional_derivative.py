"""How do damping and dry friction change along a direction?"""

from dynamics_node.algorithms.friction import friction_slope, friction_torque


def friction_directional_derivative(model, v, d):
    """Return d/dp of `friction_torque` along a complete Direction, (nv,).

    It is linear in the damping and in the friction, whose rates take their places.
    """
    rates = model.with_(damping=d.ddamping, friction=d.dfriction)
    return friction_torque(rates, v) + friction_slope(model, v) * d.dv
