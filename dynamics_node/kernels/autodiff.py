"""Differentiate dynamics on the expression graph: automatic differentiation."""

from collections.abc import Mapping, Sequence

import numpy as np

from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.joint_reactions import joint_reactions
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.compiler.differentiate import gradient, tangents
from dynamics_node.compiler.graph import Number, Symbol
from dynamics_node.model.model import Model
from dynamics_node.spatial.so3 import from_quaternion, quaternion_product


def inverse_dynamics_derivatives(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                                 wrenches: np.ndarray | None = None
                                 ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (dtau/dq, dtau/dv, dtau/da), (nv, nv) each: forward mode, one column at a time.

    Accelerations are constant, even if they are functions of q and v.
    """
    tau = inverse_dynamics(model, q, v, a, wrenches)
    constant = {symbol: 0.0 for symbol in a}
    moves = [{**constant, **move} for move in unit_moves(model, q)]
    return (_columns(tau, moves), _columns(tau, [{**constant, symbol: 1.0} for symbol in v]),
            mass_matrix(model, q))


def joint_reactions_derivatives(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                                wrenches: np.ndarray | None = None
                                ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the derivatives of the wrenches of the joints by q, v and a, (bodies, 6, nv) each.

    External wrenches are constant in the axes of their bodies.
    """
    reactions = joint_reactions(model, q, v, a, wrenches).wrenches.ravel()
    directions = (unit_moves(model, q), [{symbol: 1.0} for symbol in v],
                  [{symbol: 1.0} for symbol in a])
    dq, dv, da = (_columns(reactions, moves).reshape(-1, 6, model.nv) for moves in directions)
    return dq, dv, da


def _columns(results: np.ndarray, directions: Sequence[Mapping[Symbol, Number]]) -> np.ndarray:
    columns = np.array(tangents(list(results), directions), dtype=object)
    return columns.reshape(len(directions), len(results)).T


def inverse_dynamics_hessian_product(
        model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, weights: np.ndarray,
        dq: np.ndarray, dv: np.ndarray, da: np.ndarray) -> tuple[np.ndarray, ...]:
    r"""Return the derivatives of the gradients of s = weights . tau along a direction, (nv,) each.

    d/d eps (ds/dq, ds/dv, ds/da) at (q + eps dq, v + eps dv, a + eps da): forward mode over
    reverse. ds/dq is along unit velocities: E(q)' times the gradient by the coordinates. Where E
    depends on q (a floating joint), its change is included, and the Hessian is not symmetric.
    """
    s = weights @ inverse_dynamics(model, q, v, a)
    E = coordinate_rates(model, q)
    gradients = gradient(s, [*q, *v, *a])
    gradient_q = np.array(gradients[:model.nq], dtype=object) @ E
    results = [*gradient_q, *gradients[model.nq:]]
    direction = dict(zip([*q, *v, *a], [*(E @ dq), *dv, *da]))
    change = np.array(tangents(results, [direction])[0], dtype=object)
    return tuple(change.reshape(3, model.nv))


def unit_moves(model: Model, q: np.ndarray) -> list[dict[Symbol, Number]]:
    """Return per degree of freedom {symbol of q: its rate} at unit velocity."""
    return [{symbol: rate for symbol, rate in zip(q, column) if not _is_number(rate, 0.0)}
            for column in coordinate_rates(model, q).T]


def coordinate_rates(model: Model, q: np.ndarray) -> np.ndarray:
    """Return E with dq/dt = E(q) v, (nq, nv), for unit quaternions.

    A floating joint: dp/dt = R v_linear, dQ/dt = 1/2 Q (w, 0).
    """
    rates = np.zeros((model.nq, model.nv), dtype=object)
    for joint in model.joints:
        if joint.kind != 'floating':
            rates[joint.q, joint.v] = np.eye(joint.q.stop - joint.q.start)
            continue
        position, quaternion = q[joint.q][:3], q[joint.q][3:]
        first_q, first_v = joint.q.start, joint.v.start
        rates[first_q:first_q + len(position), first_v:first_v + 3] = from_quaternion(quaternion)
        for k, axis in enumerate(np.eye(4)[:3]):
            rates[first_q + 3:joint.q.stop, first_v + 3 + k] = 0.5 * quaternion_product(quaternion,
                                                                                        axis)
    return rates


def _is_number(value: object, number: float) -> bool:
    return isinstance(value, float) and value == number
