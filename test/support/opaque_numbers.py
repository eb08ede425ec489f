"""Provide numbers that have only the operations an algorithm may use."""

import numpy as np


class Opaque:
    """A number without comparison, truth value and float conversion."""

    __slots__ = ('value',)

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return _combine(self, other, lambda a, b: a + b)

    def __sub__(self, other):
        return _combine(self, other, lambda a, b: a - b)

    def __mul__(self, other):
        return _combine(self, other, lambda a, b: a * b)

    def __truediv__(self, other):
        return _combine(self, other, lambda a, b: a / b)

    def __radd__(self, other):
        return _combine(self, other, lambda a, b: b + a)

    def __rsub__(self, other):
        return _combine(self, other, lambda a, b: b - a)

    def __rmul__(self, other):
        return _combine(self, other, lambda a, b: b * a)

    def __rtruediv__(self, other):
        return _combine(self, other, lambda a, b: b / a)

    def __neg__(self):
        return Opaque(-self.value)

    def __pow__(self, power):
        assert power == 2
        return self * self

    def sin(self):
        return Opaque(np.sin(self.value))

    def cos(self):
        return Opaque(np.cos(self.value))

    def sqrt(self):
        return Opaque(np.sqrt(self.value))

    def _refuse(self, *_):
        raise TypeError('an algorithm looked at a value')

    __bool__ = __float__ = __eq__ = __lt__ = __gt__ = __le__ = __ge__ = _refuse
    __hash__ = object.__hash__


def _combine(a, b, operation):
    if isinstance(b, Opaque):
        return Opaque(operation(a.value, b.value))
    if isinstance(b, (int, float, np.floating, np.integer)):
        return Opaque(operation(a.value, float(b)))
    return NotImplemented


def hide(array):
    """Return the array with every entry made opaque."""
    return np.array([Opaque(float(x)) for x in np.ravel(array)],
                    dtype=object).reshape(np.shape(array))


def show(result):
    """Return the numbers of an opaque result."""
    return np.array([x.value if isinstance(x, Opaque) else float(x) for x in np.ravel(result)])
