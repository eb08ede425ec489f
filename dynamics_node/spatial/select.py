"""Select between numbers without a branch, on floats and symbols: kernels have no branches."""

from typing import Any, TypeAlias

Number: TypeAlias = Any  # a float, a complex number, a symbol of the compiler, or an array of them


def is_positive(x: Number) -> Number:
    """Return 1.0 where x > 0, else 0.0."""
    return x.step() if hasattr(x, 'step') else float(x > 0.0)


def select(where: Number, yes: Number, no: Number) -> Number:
    """Return `yes` where `where` is 1, `no` where it is 0, exactly; both must be finite."""
    return where * yes + (1.0 - where) * no


def larger(x: Number, y: Number) -> Number:
    """Return the larger of two numbers."""
    return select(is_positive(x - y), x, y)


def smaller(x: Number, y: Number) -> Number:
    """Return the smaller of two numbers."""
    return select(is_positive(x - y), y, x)


def clipped(x: Number, lower: Number, upper: Number) -> Number:
    """Return x limited to [lower, upper], exactly; the limits are finite, lower <= upper."""
    x = larger(x, lower)
    return select(is_positive(x - upper), upper, x)
