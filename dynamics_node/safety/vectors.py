"""Small vectors, one entry per joint: read, and asked about in a microsecond."""

import numpy as np


def vector(value, size):
    """Return value as (size,) floats, or None."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return None
    return array if array.shape == (size,) else None


def some(mask):
    """Return mask.any(); for a few joints this is four times as fast."""
    return np.count_nonzero(mask) > 0


def every(mask):
    """Return mask.all()."""
    return np.count_nonzero(mask) == mask.size
