"""Read the torques of a simulation: constant, a table over time, or a function of the state."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.errors import DynamicsError

Torque = ArrayLike | Callable[[float, np.ndarray, np.ndarray], ArrayLike]
TorqueFunction = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


def torque_function(torque: Torque, time: np.ndarray, nv: int, n: int | None) -> TorqueFunction:
    """Return f(t, q, v) -> tau in the shape of v.

    :param torque: f(t, q, v); or (nv,), constant; or (T, nv) at the output times, linear between;
        or (T, N, nv), for each state of a batch.
    :param n: number of states of a batch; None for one state.
    """
    if callable(torque):
        return _checked(torque, nv)
    shapes: list[tuple[int | str, ...]] = [(nv,), (len(time), nv)]
    if n is not None:
        shapes.append((len(time), n, nv))
    array = checks.check_reals('torque', torque, *shapes)
    if array.ndim == 1:
        if n is None:
            return lambda t, q, v: array   # a quarter of a step of a small robot is saved
        return lambda t, q, v: np.broadcast_to(array, v.shape)
    return lambda t, q, v: np.broadcast_to(_linear(time, array, t), v.shape)


def _linear(time: np.ndarray, table: np.ndarray, t: float) -> np.ndarray:
    k = int(np.clip(np.searchsorted(time, t, side='right') - 1, 0, max(0, len(time) - 2)))
    if k + 1 == len(time):
        return table[k]
    share = (t - time[k]) / (time[k + 1] - time[k])
    return (1.0 - share) * table[k] + share * table[k + 1]


def _checked(function: Callable[[float, np.ndarray, np.ndarray], ArrayLike], nv: int
             ) -> TorqueFunction:
    def torque(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        tau = checks.check_array('torque(t, q, v)', function(t, q, v), nv)
        if tau.shape not in ((nv,), v.shape):
            raise DynamicsError(f'torque(t, q, v) must have shape ({nv},) or {v.shape}, as v; got '
                                f'{tau.shape}')
        return np.broadcast_to(tau, v.shape)
    return torque
