"""Small vectors, one entry per joint: read, and asked about in a microsecond."""

import numpy as np

FLOAT = np.dtype(float)


def vector(value, size):
    """Return value as (size,) floats, or None."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return None
    return array if array.shape == (size,) else None


def numbers(value, size):
    """Return the floats of an array (size,) as a list, or None if it is not one.

    For a few joints a loop over plain numbers takes a fraction of what array operations do.
    """
    if type(value) is np.ndarray and value.dtype is FLOAT and value.shape == (size,):
        return value.tolist()
    return None


def within(values, most):
    """Return whether |x| <= most for every pair; what is not a number is not within anything."""
    for x, limit in zip(values, most):
        if not -limit <= x <= limit:
            break
    else:  # all() takes a quarter longer
        return True
    return False


def some(mask):
    """Return mask.any(); for a few joints this is four times as fast."""
    return np.count_nonzero(mask) > 0


def every(mask):
    """Return mask.all()."""
    return np.count_nonzero(mask) == mask.size
