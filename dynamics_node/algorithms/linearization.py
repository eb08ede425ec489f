"""Linearise the dynamics about a motion: continuous and discrete state-space models, for LQR.

The functions take one state, or N states of a trajectory (float only: a matrix exponential).
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import linalg
from dynamics_node.model.joints import Floating
from dynamics_node.model.model import Model
from dynamics_node.spatial.so3 import skew


class Slopes(Protocol):
    """Derivatives of the acceleration, (nv, nv) each."""

    @property
    def dq(self) -> np.ndarray: ...

    @property
    def dv(self) -> np.ndarray: ...

    @property
    def dtau(self) -> np.ndarray: ...


class Linear(NamedTuple):
    """The model d(dx)/dt = A dx + B dtau near a nominal motion of rate `drift`.

    dx = (difference(q_nominal, q), v - v_nominal): positions on the tangent of q, see
    model/configuration.py, then velocities. Discretised: dx one step later is A dx + B dtau, and
    `drift` is the change of the nominal motion in that step.
    """

    A: np.ndarray      # (2 nv, 2 nv), or (N, 2 nv, 2 nv)
    B: np.ndarray      # (2 nv, nv)
    drift: np.ndarray  # (2 nv,)


def linearized(model: Model, v: ArrayLike, a: ArrayLike, derivatives: Slopes) -> Linear:
    r"""Return the continuous Linear around a state with velocity v and acceleration a.

    A = [[ -ad_v, 1 ], [ da/dq, da/dv ]],   B = [[ 0 ], [ da/dtau ]],   drift = (v, a).

    ad_v is zero except for floating joints: with T = T_nominal exp(x) and body twists,
    dx/dt = v - Ad_{exp(-x)} v_nominal = (v - v_nominal) - ad_v x + O(x^2).

    :param derivatives: ForwardDerivatives of that state.
    """
    v, a = np.asarray(v), np.asarray(a)
    unit = np.broadcast_to(np.eye(model.nv), derivatives.dq.shape)
    return Linear(
        _blocks([[-np.tensordot(v, velocity_brackets(model), axes=1), unit],
                 [derivatives.dq, derivatives.dv]]),
        _blocks([[0.0 * unit], [derivatives.dtau]]),
        np.concatenate([v, a], axis=-1))


def discretized(linear: Linear, step: float) -> Linear:
    r"""Return the Linear of one step [s] with constant torques, exact by the matrix exponential of

    [[A, B, drift], [0, 0, 0]] step.
    """
    A, B, drift = linear
    n, m = B.shape[-2:]
    rates = np.concatenate([A, B, drift[..., None]], axis=-1)
    rest = np.zeros((*A.shape[:-2], m + 1, n + m + 1))
    moved = linalg.expm(step * np.concatenate([rates, rest], axis=-2))[..., :n, :]
    return Linear(moved[..., :n], moved[..., n:n + m], moved[..., n + m])


def velocity_brackets(model: Model) -> np.ndarray:
    """Return ad of each unit velocity k, first index k, (nv, nv, nv): zero where v = dq/dt."""
    brackets = np.zeros((model.nv, model.nv, model.nv))
    for body in model.bodies:
        if isinstance(body.joint, Floating):  # velocities are (linear, angular)
            first = body.v.start
            linear, angular = slice(first, first + 3), slice(first + 3, first + 6)
            for k, cross in enumerate(skew(axis) for axis in np.eye(3)):
                brackets[first + k, linear, angular] = cross
                brackets[first + 3 + k, linear, linear] = cross
                brackets[first + 3 + k, angular, angular] = cross
    return brackets


def _blocks(rows: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    return np.concatenate([np.concatenate(row, axis=-1) for row in rows], axis=-2)
