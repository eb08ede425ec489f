"""Compute forward dynamics: the accelerations under given torques (articulated bodies)."""

import numpy as np

from dynamics_node.algorithms.hybrid_dynamics import HybridSolution, hybrid_dynamics
from dynamics_node.model.model import Model


def forward_dynamics(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                     wrenches: np.ndarray | None = None) -> HybridSolution:
    r"""Return the HybridSolution whose `a` is the acceleration under the torques tau, (nv,).

    a = M(q)^-1 (tau - C(q, v) v - g(q) - friction(v) + sum J' F_ext),   M with armature.

    :param q, v, tau: configuration (nq,), velocity and torque (nv,).
    :param wrenches: (bodies, 6) as for `inverse_dynamics`.

    Kim 2012, table 3: table 4 with no acceleration prescribed; the recursions are in
    hybrid_dynamics.py. O(n).
    """
    given = np.zeros(model.nv, dtype=bool)
    return hybrid_dynamics(model, q, v, np.zeros(model.nv), tau, given, wrenches)
