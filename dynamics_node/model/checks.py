"""Check numbers, flags and choices that a user passes; errors name the argument."""

from collections.abc import Iterable, Mapping
from numbers import Integral

import numpy as np

from dynamics_node.errors import ModelError, shown

LARGEST = 1e30         # of any number; squares and products stay finite
MOST_JOINTS = 100_000  # of one robot; more would fill the memory


def finite(name: str, value: object, *shapes: tuple[int, ...]) -> np.ndarray:
    """Return value as an array of floats of one of the shapes, all finite."""
    try:
        given = np.asarray(value)
        array = np.array(given, dtype=float) if given.dtype.kind in 'fiu' else None
    except Exception:  # an object may raise anything when NumPy reads it
        array = None
    if array is None or array.shape not in shapes or not (np.abs(array) <= LARGEST).all():
        size = ' x '.join(map(str, shapes[-1]))
        wanted = f'{size} finite numbers' if shapes[-1] else 'a finite number'
        raise ModelError(f'{name} is {shown(value, 200)}; expected {wanted}')
    return array


def at_least_zero(name: str, value: object) -> float:
    """Return value as a float that is finite and not negative."""
    number = float(finite(name, value, ()))
    if number < 0.0:
        raise ModelError(f'{name} is {shown(value)}; expected zero or a positive number')
    return number


def positive(name: str, value: object) -> float:
    """Return value as a float that is finite and above zero."""
    number = float(finite(name, value, ()))
    if number <= 0.0:
        raise ModelError(f'{name} is {shown(value)}; expected a positive number')
    return number


def mapping(name: str, value: Mapping, example: str) -> dict:
    """Return value as a dict."""
    try:
        return dict(value.items())
    except Exception:  # no dict, or one that cannot be read
        raise ModelError(f'{name} is {shown(value, 200)}; expected a dict such as '
                         f'{example}') from None


def flag(name: str, value: object) -> bool:
    """Return value as a bool; 1 and 0 are accepted."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, Integral) and value in (0, 1):
        return bool(value)
    raise ModelError(f'{name} is {shown(value)}; expected True or False')


def choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return value, a text that must be one of the choices."""
    if not isinstance(value, str) or value not in tuple(choices):
        raise ModelError(f'{name} is {shown(value)}; expected one of {", ".join(choices)}')
    return str(value)


def whole(name: str, value: int, least: int = 0, most: int | None = None) -> int:
    """Return a whole number within bounds as an int."""
    if (not isinstance(value, Integral) or isinstance(value, bool) or value < least
            or (most is not None and value > most)):
        bounds = f'{least} or more' if most is None else f'from {least} to {most}'
        raise ModelError(f'{name} is {shown(value)}; expected a whole number, {bounds}')
    return int(value)
