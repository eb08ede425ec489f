"""Read and check short vectors of plain floats, one entry per joint.

For a few joints a loop over plain floats takes a fraction of the time of array operations.
"""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

FLOAT = np.dtype(float)


def numbers(value: ArrayLike, size: int) -> list[float] | None:
    """Return the entries of a vector of that size as floats, or None if it is not one."""
    if type(value) is not np.ndarray or value.dtype is not FLOAT:
        try:
            value = np.asarray(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            return None
    return value.tolist() if value.shape == (size,) else None


def all_finite(values: Iterable[float]) -> bool:
    """Return whether every value is finite."""
    return all(map(math.isfinite, values))


def all_below(values: Iterable[float], limit: float) -> bool:
    """Return whether |x| <= limit for every value; False where one is nan."""
    return all(-limit <= x <= limit for x in values)


def all_within(values: Iterable[float], limits: Iterable[float]) -> bool:
    """Return whether |x| <= limit for every pair; False where a value is nan."""
    for x, limit in zip(values, limits):
        if not -limit <= x <= limit:
            break
    else:  # all() takes a quarter longer
        return True
    return False
