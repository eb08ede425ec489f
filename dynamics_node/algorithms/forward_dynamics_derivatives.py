"""Compute the derivatives of forward dynamics by q, v and tau (Carpentier and Mansard 2018)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inverse_dynamics_derivatives import (
    bias_from_derivatives,
    inverse_dynamics_derivatives,
)
from dynamics_node.algorithms.mass_matrix import pivot_margin
from dynamics_node.model.model import Model
from dynamics_node.spatial.solve import factor, solve_factored, symmetric


class ForwardDerivatives(NamedTuple):
    """Derivatives of a = FD(q, v, tau): row i is the acceleration i, column k the variable k."""

    dq: np.ndarray      # (nv, nv) along the tangent of q, see model/configuration.py
    dv: np.ndarray      # (nv, nv)
    dtau: np.ndarray    # (nv, nv) the inverse of the mass matrix, symmetric
    margin: np.ndarray  # (nv,) positive where M is regular


def forward_dynamics_derivatives(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                                 wrenches: np.ndarray | None = None,
                                 as_rows: Callable = np.asarray) -> ForwardDerivatives:
    r"""Return the derivatives of `forward_dynamics` by q, v and tau.

    ID(q, v, FD(q, v, tau)) = tau holds at every state; differentiated,
    dFD/dq = -M^-1 dID/dq,   dFD/dv = -M^-1 dID/dv,   dFD/dtau = M^-1,   at a = FD(q, v, tau).

    :param q, v, tau: configuration (nq,), velocity and torque (nv,).
    :param wrenches: (bodies, 6) as for `inverse_dynamics`, constant in their bodies' frames.
    :param as_rows: applied to each right side: np.asarray, or, in a kernel, the conversion to
        rows of compiler/row_statements.py, which makes loops of the solves.

    Carpentier and Mansard 2018, section V.
    """
    _, dv, M = inverse_dynamics_derivatives(model, q, v, np.zeros(model.nv), wrenches)
    L, d = factor(M)
    a = solve_factored(L, d, tau - bias_from_derivatives(model, q, v, dv, wrenches))
    dq = inverse_dynamics_derivatives(model, q, v, a, wrenches).dq  # dv and M do not depend on a
    return ForwardDerivatives(solve_factored(L, d, -as_rows(dq)),
                              solve_factored(L, d, -as_rows(dv)),
                              symmetric(solve_factored(L, d, as_rows(np.eye(model.nv)))),
                              pivot_margin(model, d))
