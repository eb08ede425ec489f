"""Differentiate algorithms by dual numbers (forward mode): a value and its derivatives.

Every algorithm that runs on symbols also runs on Duals and returns exact derivatives. Used only for
springs (springs.py) and constraint rows (constrained/row_derivatives.py, coordinate_rows.py): they
have many kinds, for which hand-derived tables would be long, and their derivatives are needed in
NumPy too, where there is no expression graph to differentiate. All other derivatives are equations
derived by hand, or are computed on the expression graph (kernels/autodiff.py).
"""

import functools
from collections.abc import Callable

import numpy as np

from dynamics_node.model.model import Model
from dynamics_node.spatial import so3
from dynamics_node.spatial.select import Number

_Operation = Callable[['Dual', Number], 'Dual']


def _of_one_number(operation: _Operation) -> _Operation:
    """Return NotImplemented for arrays, so that NumPy applies the operation entry by entry."""
    @functools.wraps(operation)
    def wrapped(self: 'Dual', other: Number) -> 'Dual':
        return NotImplemented if isinstance(other, np.ndarray) else operation(self, other)
    return wrapped


class Dual:
    """The number x + sum of slope_j e_j with e_i e_j = 0: a value and its k derivatives.

    Value and slopes may be floats or symbols.
    """

    __slots__ = ('slope', 'value')

    def __init__(self, value: Number, slope: Number) -> None:
        self.value, self.slope = value, slope

    @_of_one_number
    def __add__(self, other: Number) -> 'Dual':
        value, slope = _split(other)
        return Dual(self.value + value, self.slope if slope is None else self.slope + slope)

    @_of_one_number
    def __sub__(self, other: Number) -> 'Dual':
        value, slope = _split(other)
        return Dual(self.value - value, self.slope if slope is None else self.slope - slope)

    @_of_one_number
    def __mul__(self, other: Number) -> 'Dual':
        value, slope = _split(other)
        if slope is None:
            return Dual(self.value * value, self.slope * value)
        return Dual(self.value * value, self.slope * value + slope * self.value)

    @_of_one_number
    def __truediv__(self, other: Number) -> 'Dual':
        value, slope = _split(other)
        quotient = self.value / value
        if slope is None:
            return Dual(quotient, self.slope / value)
        return Dual(quotient, (self.slope - slope * quotient) / value)

    @_of_one_number
    def __rtruediv__(self, other: Number) -> 'Dual':
        quotient = other / self.value
        return Dual(quotient, self.slope * (-quotient / self.value))

    @_of_one_number
    def __rsub__(self, other: Number) -> 'Dual':
        return Dual(other - self.value, -self.slope)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> 'Dual':
        return Dual(-self.value, -self.slope)

    def __pow__(self, power: int) -> 'Dual':
        if power != 2:
            return NotImplemented
        return self * self

    def sin(self) -> 'Dual':
        return Dual(np.sin(self.value), self.slope * np.cos(self.value))

    def cos(self) -> 'Dual':
        return Dual(np.cos(self.value), self.slope * -np.sin(self.value))

    def sqrt(self) -> 'Dual':
        root = np.sqrt(self.value)
        return Dual(root, self.slope / (2.0 * root))


def _split(number: Number) -> tuple[Number, Number | None]:
    """Return (value, slope); the slope of a constant is None."""
    return (number.value, number.slope) if isinstance(number, Dual) else (number, None)


def dual_vector(values: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return the vector of Duals with these values (n,) and slopes (n, k)."""
    duals = np.empty(len(values), dtype=object)
    duals[:] = [Dual(value, slope) for value, slope in zip(values, np.asarray(slopes))]
    return duals


def dual_array(values: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return the array of Duals of one direction with these values and slopes, of one shape."""
    return dual_vector(np.ravel(values), np.reshape(slopes, (-1, 1))).reshape(np.shape(values))


def slopes_of(duals: np.ndarray, k: int) -> np.ndarray:
    """Return the slopes of an array of Duals and constants, (..., k)."""
    rows = [np.zeros(k) if slope is None else slope for _, slope in map(_split, np.ravel(duals))]
    return np.array(rows).reshape(*np.shape(duals), k)


def dual_state(model: Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (q, v) as Duals of 2 nv directions: unit velocities of q, then entries of v."""
    n = model.nv
    return (dual_vector(q, np.hstack([configuration_rates(model, q), np.zeros((model.nq, n))])),
            dual_vector(v, np.hstack([np.zeros((n, n)), np.eye(n)])))


def configuration_rates(model: Model, q: np.ndarray) -> np.ndarray:
    r"""Return G with dq/dt = G v, (nq, nv).

    The identity where v = dq/dt; for a floating joint with body twist (u, w) and quaternion r,
    dp/dt = R u and dr/dt = 1/2 r * (w, 0).
    """
    rows = [[0.0] * model.nv for _ in range(model.nq)]
    for joint in model.joints:
        block = np.eye(joint.v.stop - joint.v.start)
        if joint.kind == 'floating':
            block = _floating_rates(q[joint.q][3:])
        for row, values in zip(rows[joint.q], block):
            row[joint.v] = list(values)
    return np.array(rows).reshape(model.nq, model.nv)


def _floating_rates(quaternion: np.ndarray) -> np.ndarray:
    R = so3.from_quaternion(quaternion)
    turns = [0.5 * so3.quaternion_product(quaternion, np.append(axis, 0.0)) for axis in np.eye(3)]
    return np.vstack([np.hstack([R, np.zeros((3, 3))]),
                      np.hstack([np.zeros((4, 3)), np.array(turns).T])])
