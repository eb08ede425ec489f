"""Provide numbers that have only the operations an algorithm may use."""

import math
import operator

import numpy as np


def _operation(combine, swapped=False):
    """Return the method of an operation of two numbers, the first of them opaque."""
    def method(self, other):
        if type(other) is Opaque:   # first: it is called a million times
            other = other.value
        elif isinstance(other, (int, float, np.floating, np.integer)):
            other = float(other)
        else:
            return NotImplemented
        return Opaque(combine(other, self.value) if swapped else combine(self.value, other))
    return method


class Opaque:
    """A number without comparison, truth value and float conversion."""

    __slots__ = ('value',)

    def __init__(self, value):
        self.value = value

    __add__, __radd__ = _operation(operator.add), _operation(operator.add, True)
    __sub__, __rsub__ = _operation(operator.sub), _operation(operator.sub, True)
    __mul__, __rmul__ = _operation(operator.mul), _operation(operator.mul, True)
    __truediv__, __rtruediv__ = (_operation(operator.truediv),
                                 _operation(operator.truediv, True))

    def __neg__(self):
        return Opaque(-self.value)

    def __pow__(self, power):
        assert power == 2
        return self * self

    def sin(self):
        return Opaque(math.sin(self.value))

    def cos(self):
        return Opaque(math.cos(self.value))

    def sqrt(self):
        return Opaque(math.sqrt(self.value))

    def _refuse(self, *_):
        raise TypeError('an algorithm looked at a value')

    __bool__ = __float__ = __eq__ = __lt__ = __gt__ = __le__ = __ge__ = _refuse
    __hash__ = object.__hash__


def hide(array):
    """Return the array with every entry made opaque."""
    return np.array([Opaque(float(x)) for x in np.ravel(array)],
                    dtype=object).reshape(np.shape(array))


def show(result):
    """Return the numbers of an opaque result."""
    return np.array([x.value if isinstance(x, Opaque) else float(x) for x in np.ravel(result)])
