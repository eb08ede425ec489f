r"""Linearise a closed mechanism in its independent coordinates, for LQR (float only).

A deviation x of the coordinates and of their velocities u obeys

    d/dt (x, du) = (du - ad_u x, d(du/dt)),

ad_u zero except for floating coordinates, and d(du/dt) by the derivatives of the forward dynamics:
see `closed_derivatives`.
"""

from collections.abc import Sequence

import numpy as np

from dynamics_node.algorithms.linearization import Linear, discretized, velocity_brackets
from dynamics_node.constrained.closed_derivatives import forward_derivatives_or_error
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.model.model import Model


def closed_linearization(model: Model, constraints: Sequence[Constraint], q: np.ndarray,
                         v: np.ndarray, tau: np.ndarray, independent: Sequence[int],
                         step: float | None = None,
                         wrenches: np.ndarray | None = None) -> Linear:
    """Return the Linear of deviations (of the coordinates, of their velocities), (2 k,).

    :param v: (nv,) of which the independent entries are read.
    :param tau: (nv,) of all joints.
    :param independent: entries of v, whole joints, k of them.
    :param step: [s] of discrete time; None is continuous time.
    :param wrenches: (bodies, 6) as for `inverse_dynamics`, constant in their bodies' frames.
    :raise DynamicsError: as in `forward_derivatives_or_error`.
    """
    independent = list(independent)
    slopes = forward_derivatives_or_error(model, constraints, q, v, tau, independent, wrenches)
    k = len(independent)
    turning = np.tensordot(v, velocity_brackets(model), axes=1)  # of floating joints
    A = np.block([[-turning[np.ix_(independent, independent)], np.eye(k)],
                  [slopes.dq, slopes.dv]])
    B = np.vstack([np.zeros((k, model.nv)), slopes.dtau])
    linear = Linear(A, B, np.concatenate([v[independent], slopes.a]))
    return linear if step is None else discretized(linear, step)
