"""Compute joint friction: viscous, smoothed Coulomb, and further terms where a model has them."""

import numpy as np

from dynamics_node.model.friction_terms import FrictionTerms
from dynamics_node.model.model import Model


def friction_torque(model: Model, v: np.ndarray) -> np.ndarray:
    r"""Return the torque that overcomes damping and friction at velocity v, (nv,) [N m or N].

    tau_f = d v + f v / sqrt(v^2 + v_s^2).

    Coulomb's sign(v) is smoothed over the speed v_s (`model.friction_speeds`): with a noisy
    measured velocity near zero, sign(v) would chatter between +f and -f. At rest tau_f is zero.
    Inverse dynamics adds tau_f, forward dynamics subtracts it.

    With s = v / sqrt(v^2 + v_s^2) and the `friction_terms` of a model, tau_f has in addition

        s b / (1 + (v / v_b)^2) + f_a s^2 + d_a v s.

    The first is Stribeck's: friction is greater by b near rest, and by b / 2 at the speed v_b (Hess
    and Soom 1990). The others are asymmetric: Coulomb friction is f + f_a in positive and f - f_a
    in negative direction, damping d + d_a and d - d_a.
    """
    smooth_sign = v / np.sqrt(v * v + model.friction_speeds ** 2)
    plain = model.damping * v + model.friction * smooth_sign
    if model.friction_terms is None:
        return plain
    return plain + smooth_sign * _further(model.friction_terms, v, smooth_sign)


def friction_slope(model: Model, v: np.ndarray) -> np.ndarray:
    """Return the derivative of each joint's friction torque by its velocity, (nv,).

    d tau_f / dv = d + f v_s^2 / (v^2 + v_s^2)^(3/2), without `friction_terms`.
    """
    square = v * v + model.friction_speeds ** 2
    root = np.sqrt(square)
    sign_slope = model.friction_speeds ** 2 / (square * root)
    plain = model.damping + model.friction * sign_slope
    if model.friction_terms is None:
        return plain
    smooth_sign = v / root
    return (plain + sign_slope * _further(model.friction_terms, v, smooth_sign)
            + smooth_sign * _further_slope(model.friction_terms, v, sign_slope))


def _further(terms: FrictionTerms, v: np.ndarray, smooth_sign: np.ndarray) -> np.ndarray:
    """Return what further terms add to Coulomb friction at velocity v, (nv,)."""
    return (terms.stribeck / (1.0 + (v / terms.stribeck_speed) ** 2)
            + terms.friction_asymmetry * smooth_sign + terms.damping_asymmetry * v)


def _further_slope(terms: FrictionTerms, v: np.ndarray, sign_slope: np.ndarray) -> np.ndarray:
    """Return the derivative of `_further` by v, (nv,)."""
    ratio = v / terms.stribeck_speed
    rest = 1.0 + ratio ** 2
    return (terms.friction_asymmetry * sign_slope + terms.damping_asymmetry
            - 2.0 * terms.stribeck * ratio / (terms.stribeck_speed * rest ** 2))
