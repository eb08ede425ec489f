"""Numbers that a user hands to the model, checked by name."""

import numpy as np

from dynamics_node.errors import ModelError

LARGEST = 1e30  # no robot has more of anything; squares and products stay finite


def finite(name, value, shape):
    """Return value as an array of floats of that shape, all finite."""
    try:
        array = np.asarray(value)
        numeric = array.dtype.kind in 'fiu'
        array = np.array(array, dtype=float) if numeric else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None or array.shape != shape or not (np.abs(array) <= LARGEST).all():
        size = ' x '.join(map(str, shape))
        wanted = f'{size} finite numbers' if shape else 'a finite number'
        raise ModelError(f'{name} is {value!r:.200}; expected {wanted}')
    return array


def at_least_zero(name, value):
    """Return value as a float that is finite and not negative."""
    number = float(finite(name, value, ()))
    if number < 0.0:
        raise ModelError(f'{name} is {value!r}; expected zero or a positive number')
    return number


def positive(name, value):
    """Return value as a float that is finite and above zero."""
    number = float(finite(name, value, ()))
    if number <= 0.0:
        raise ModelError(f'{name} is {value!r}; expected a positive number')
    return number


def mapping(name, value, example):
    """Return value as a dict."""
    if not hasattr(value, 'items'):
        raise ModelError(f'{name} is {value!r:.200}; expected a dict such as {example}')
    return dict(value)
