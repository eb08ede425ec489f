"""Compute the derivatives of hybrid dynamics by q, v and the given accelerations and torques."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inverse_dynamics_derivatives import (
    bias_from_derivatives,
    inverse_dynamics_derivatives,
)
from dynamics_node.algorithms.mass_matrix import pivot_margin
from dynamics_node.model.model import Model
from dynamics_node.spatial.solve import factor, solve_factored


class HybridDerivatives(NamedTuple):
    """Derivatives of the unknowns x of hybrid dynamics by q, v and its given values y.

    x_k is the torque of k where its acceleration is given, else its acceleration; y_k the other.
    """

    dq: np.ndarray      # dx/dq (nv, nv) along the tangent of q, see model/configuration.py
    dv: np.ndarray      # dx/dv (nv, nv)
    dknown: np.ndarray  # dx/dy (nv, nv)
    margin: np.ndarray  # (nv,) positive where M is regular, or a was given


def hybrid_dynamics_derivatives(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                                tau: np.ndarray, given: np.ndarray,
                                wrenches: np.ndarray | None = None,
                                as_rows: Callable = np.asarray) -> HybridDerivatives:
    r"""Return the derivatives of `hybrid_dynamics`.

    With D = dID/dq or dID/dv, in blocks u (acceleration prescribed) and v (torque given),
    da_v = -M_vv^-1 D_v,   dtau_u = D_u + M_uv da_v,
    da_v/dtau_v = M_vv^-1,   da_v/da_u = -M_vv^-1 M_vu = -(dtau_u/dtau_v)',
    dtau_u/da_u = M_uu - M_uv M_vv^-1 M_vu.
    All u: `inverse_dynamics_derivatives`; all v: `forward_dynamics_derivatives`.

    :param a, tau, given: (nv,) as for `hybrid_dynamics`; given may be symbols 0 and 1, since rows
        and columns are selected by products (see `hybrid_dynamics.by_blocks`).
    :param wrenches: (bodies, 6) as for `inverse_dynamics`, constant in their bodies' frames.
    :param as_rows: applied to each right side: np.asarray, or, in a kernel, the conversion to
        rows of compiler/row_statements.py, which makes loops of the solves.
    """
    u = given * np.ones(model.nv)
    w = 1.0 - u
    _, dv, M = inverse_dynamics_derivatives(model, q, v, np.zeros(model.nv), wrenches)
    L, d = factor(np.outer(w, w) * M + np.diag(u))
    known = bias_from_derivatives(model, q, v, dv, wrenches) + M @ (u * a)
    moving = solve_factored(L, d, w * (tau - known) + u * a)
    dq = inverse_dynamics_derivatives(model, q, v, moving, wrenches).dq  # dv, M are free of a

    def found(change: np.ndarray) -> np.ndarray:
        """Return dx for a change of the torques of the same motion."""
        change = as_rows(change)
        driven = solve_factored(L, d, -w[:, None] * change)
        return driven + u[:, None] * (change + M @ driven)

    return HybridDerivatives(found(dq), found(dv), found(M * u - np.diag(w)),
                             u + w * pivot_margin(model, d))
