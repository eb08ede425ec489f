"""Check values that a user gives: numbers, arrays, names, choices.

Each function returns the value in its plain form, or raises an error that names the argument.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.errors import DynamicsError, ModelError, shown

T = TypeVar('T')
F = TypeVar('F', bound=Callable)

LARGEST = 1e30         # greatest valid number; squares and products of such numbers stay finite
MOST_JOINTS = 100_000  # of one robot; a greater number is a mistake that would fill the memory


# Numbers ------------------------------------------------------------------------------------------

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
    except Exception:  # not a dict, or its items() raises
        raise ModelError(f'{name} is {shown(value, 200)}; expected a dict such as '
                         f'{example}') from None


def flag(name: str, value: object) -> bool:
    """Return a bool; 1 and 0 are accepted."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, Integral) and value in (0, 1):
        return bool(value)
    raise ModelError(f'{name} is {shown(value)}; expected True or False')


def choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return the text, which is one of the choices."""
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


def named_numbers(name: str, text: str) -> dict[str, float]:
    """Return {joint: number} of a text such as 'finger_1=0.02 finger_2=0.02'."""
    numbers = {}
    for part in re.split(r'[\s,]+', text.strip()):
        if not part:
            continue
        joint, equals, number = part.rpartition('=')
        try:
            if not (equals and joint and math.isfinite(float(number))):
                raise ValueError
        except ValueError:
            raise DynamicsError(f"{name} has '{part}'; expected joint=number, several with spaces "
                                "between, as in 'finger_1=0.02 finger_2=0.02'") from None
        if joint in numbers:
            raise DynamicsError(f"{name} names joint '{joint}' twice")
        numbers[joint] = float(number)
    return numbers


# Arrays -------------------------------------------------------------------------------------------

def check_array(name: str, value: ArrayLike, size: int) -> np.ndarray:
    """Return value as finite floats of shape (size,) or (N, size)."""
    array = floats(name, value)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise DynamicsError(f'{name} must have shape ({size},) or (N, {size}), got {array.shape}')
    return _check_finite(name, array)


def check_single(name: str, value: ArrayLike, size: int) -> np.ndarray:
    """Return value as finite floats of shape (size,)."""
    array = check_array(name, value, size)
    if array.ndim != 1:
        raise DynamicsError(f'{name} must have shape ({size},), got {array.shape}')
    return array


def check_floats(name: str, value: ArrayLike, size: int) -> np.ndarray:
    """Return value as (size,) floats, which need not be finite."""
    array = floats(name, value)
    if array.shape != (size,):
        raise DynamicsError(f'{name} must have shape ({size},), got {array.shape}')
    return array


def floats(name: str, value: ArrayLike) -> np.ndarray:
    """Return value as an array of floats of any shape."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in 'fiubO':  # no strings, no complex numbers
            raise TypeError(array.dtype)
        return array.astype(float, copy=False)
    except Exception as error:  # an object may raise anything when NumPy reads it
        raise DynamicsError(f'{name} must hold real numbers, got {shown(value)}') from error


def check_reals(name: str, value: ArrayLike, *shapes: tuple[int | str, ...]) -> np.ndarray:
    """Return a copy of value as finite floats of one of the shapes; a letter is any size."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in 'fiu' and array.size:
            raise TypeError(array.dtype)
        array = np.array(array, dtype=float)
    except Exception as error:  # an object may raise anything when NumPy reads it
        raise DynamicsError(f'{name} must hold real numbers, got {shown(value)}') from error
    if not any(_fits(array.shape, shape) for shape in shapes):
        wanted = ' or '.join(str(shape).replace("'", '') for shape in shapes)
        raise DynamicsError(f'{name} must have shape {wanted}, got {array.shape}')
    return _check_finite(name, array)


def _check_finite(name: str, array: np.ndarray) -> np.ndarray:
    if not np.isfinite(array).all():
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        place = f'[{", ".join(map(str, where))}]' if where else ''
        raise DynamicsError(f'{name}{place} is {array[where]}; every entry must be finite')
    return array


def _fits(shape: tuple[int, ...], wanted: tuple[int | str, ...]) -> bool:
    return len(shape) == len(wanted) and all(
        isinstance(size, str) or size == actual for size, actual in zip(wanted, shape))


def check_times(times: ArrayLike, name: str = 'times') -> np.ndarray:
    """Return times as finite floats (N,), at least one, strictly increasing."""
    times = check_reals(name, times, ('N',))
    if len(times) == 0:
        raise DynamicsError(f'{name} is empty; expected at least one time [s]')
    late = np.flatnonzero(times[1:] <= times[:-1])
    if late.size:
        k = int(late[0]) + 1
        raise DynamicsError(f'{name}[{k}] is {times[k]}, not after {name}[{k - 1}] = '
                            f'{times[k - 1]}; expected strictly increasing times [s]')
    return times


def check_weights(name: str, weights: ArrayLike | None, size: int) -> np.ndarray | None:
    """Return `size` numbers that are not negative, or None for ones."""
    if weights is None:
        return None
    array = check_single(name, weights, size)
    if (array < 0.0).any():
        raise DynamicsError(f'{name}[{int(np.argmin(array))}] is {array.min()}; '
                            'no weight may be below zero')
    return array


def batch_size(arrays: Mapping[str, np.ndarray], **by_frame: Mapping[str, np.ndarray]
               ) -> int | None:
    """Return N if any array, or any value by frame, is a batch; None if all are single states.

    The two are separate arguments, since a frame may have the name of an argument.
    """
    named = [*arrays.items(), *((entry(name, frame), value) for name, values in by_frame.items()
                                for frame, value in values.items())]
    sizes = {name: len(array) for name, array in named if array.ndim == 2}
    if len(set(sizes.values())) > 1:
        rows = ', '.join(f'{name} has {n}' for name, n in sizes.items())
        raise DynamicsError(f'batches must be of one size; {rows} rows')
    return next(iter(sizes.values()), None)


def entry(name: str, place: object) -> str:
    """Return the name of an entry of an argument, as an error message shows it."""
    return f"{name}['{place}']"


def check_generator(rng: np.random.Generator | int | Sequence[int] | None) -> np.random.Generator:
    """Return the numpy Generator of a seed, of None, or the one that is given."""
    numbered = isinstance(rng, (Integral, list, tuple, np.ndarray))
    try:
        if numbered:  # NumPy recurses without end into a list that contains itself
            rng = _whole_numbers(rng)
        return np.random.default_rng(rng)
    except Exception as error:
        raise DynamicsError(f'rng is {shown(rng)}; expected a numpy Generator or a seed, an '
                            'integer that is not negative') from error


def _whole_numbers(seed: Any) -> Any:
    if isinstance(seed, Integral):
        return int(seed)
    seed = np.asarray(seed)
    if seed.dtype.kind not in 'iu' or seed.ndim > 1:
        raise TypeError(seed.dtype)
    return seed


def check_pair(name: str, value: Sequence[T | None] | None, what: str) -> tuple[T | None, T | None]:
    """Return a pair, either of which may be None; None alone is (None, None)."""
    if value is None:
        return None, None
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise DynamicsError(f'{name} is {shown(value)}; expected a pair: {what}')
    first, second = value
    return first, second


def check_names(name: str, names: str | Sequence[str] | Set[str]) -> tuple[str, ...]:
    """Return one name or some names as a tuple of texts."""
    if isinstance(names, str):
        return (names,)
    if (not isinstance(names, (Sequence, Set, Mapping))
            or not all(isinstance(each, str) for each in names)):
        raise DynamicsError(f'{name} is {shown(names)}; expected a name, or a list of names')
    return tuple(names)


def check_sequence(name: str, items: Sequence[T]) -> tuple[T, ...]:
    """Return the items of a list or tuple as a tuple."""
    if isinstance(items, (str, bytes)) or not isinstance(items, Sequence):
        raise DynamicsError(f'{name} is {shown(items)}; expected a list')
    return tuple(items)


def check_kind(name: str, value: object, kind: type[T] | tuple[type[T], ...]) -> T:
    """Return the value; raise if it is not of that class, or of one of several."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = ' or '.join(each.__name__ for each in kinds)
        raise DynamicsError(f'{name} is {shown(value)}; expected a {wanted}')
    return value


def check_facts(about: Mapping[str, object] | None) -> Mapping[str, object]:
    """Return the {name: value} that a report is to show, empty for None."""
    if about is None:
        return {}
    if not isinstance(about, Mapping):
        raise DynamicsError(f'about is {shown(about)}; expected a dict {{what: value}}, or None')
    return about


def check_callable(name: str, function: F | None) -> F | None:
    """Return a function, or None."""
    if function is not None and not callable(function):
        raise DynamicsError(f'{name} is {shown(function)}; expected a function, or None')
    return function
