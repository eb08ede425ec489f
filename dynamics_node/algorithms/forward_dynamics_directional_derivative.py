"""Compute the directional derivative of forward dynamics (Kim 2012, table 6)."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.hybrid_dynamics_directional_derivative import (
    hybrid_dynamics_directional_derivative,
)
from dynamics_node.algorithms.parameter_direction import ParameterDirection
from dynamics_node.model.model import Model


class ForwardDirectionalDerivative(NamedTuple):
    """The derivative of forward dynamics along a direction."""

    da: np.ndarray      # (nv,)
    margin: np.ndarray  # (nv,) positive where M is regular


def forward_dynamics_directional_derivative(
        model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray, direction: ParameterDirection,
        wrenches: np.ndarray | None = None) -> ForwardDirectionalDerivative:
    r"""Return da/dp of `forward_dynamics`: M da = dtau - d(M a + b) at constant a, (nv,).

    :param q, v, tau: configuration (nq,), velocity and torque (nv,).
    :param direction: ParameterDirection with dq/dp, dv/dp, dtau/dp, ... (its da is not read).
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.

    Kim 2012, table 6: table 7 with no acceleration prescribed. Corrections to table 6 as printed:
    the dS_i of d beta_i is dS_i'; in the last recursion d\ddot Psi_i is d Psi_i, and h_lambda(i)
    is h_i, as in table 7. O(n).
    """
    given = np.zeros(model.nv, dtype=bool)
    zero = np.zeros(model.nv)
    d = direction._replace(da=zero)
    result = hybrid_dynamics_directional_derivative(model, q, v, zero, tau, given, d, wrenches)
    return ForwardDirectionalDerivative(result.da, result.margin)
