"""Check the fields of a constraint and return them as plain, hashable data."""

import math
import numbers
import reprlib
from collections.abc import Callable, Hashable
from typing import NoReturn

import numpy as np

from dynamics_node.errors import LONGEST_NAME, DynamicsError, shortened, shown
from dynamics_node.model.configuration import UNIT_QUATERNION
from dynamics_node.spatial import so3

LARGEST = 1e9      # of any number; products of two stay finite
SHORTEST = 1e-9    # of a distance and of an axis [m]
IN_PLANE = 1e-6    # cosine of the angle between a line of contact and the normal, at most


def refuse(name: str, field: str, is_what: str, expected: str) -> NoReturn:
    """Raise the DynamicsError about a field of the constraint of that name."""
    name = shortened(name, LONGEST_NAME)
    raise DynamicsError(f"constraint '{name}': {field} {is_what}; expected {expected}")


def short(value: object) -> str:
    """Return a short repr of a value of any size, for an error message."""
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer of 5000 digits has no text
        return shown(value)


def text(value: object) -> str:
    """Return a text unchanged."""
    if not isinstance(value, str):
        raise ValueError('text, in quotes where it looks like something else')
    return str(value)


def check_name(value: str) -> str:
    """Return a name: a non-empty text, which names the rows in every reply."""
    if not text(value).strip() or len(value) > LONGEST_NAME:
        raise ValueError(f'some text of at most {LONGEST_NAME} characters')
    return str(value)


def number(value: float) -> float:
    """Return a finite number as a float."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if not is_number or not abs(value) <= LARGEST:
        raise ValueError(f'a number within +-{LARGEST:g}')
    return float(value)


def coefficient(value: float) -> float:
    """Return a number of at least zero, or math.nan for unknown (one object, so that it hashes)."""
    if isinstance(value, (float, np.floating)) and math.isnan(value):
        return math.nan
    if number(value) < 0.0:
        raise ValueError('a number of at least zero, or nan where it is not known')
    return float(value)


def vector(value: object) -> tuple:
    """Return a tuple of finite numbers."""
    if not isinstance(value, (tuple, list, np.ndarray)):
        raise ValueError('numbers')
    try:
        return tuple(number(entry) for entry in value)
    except TypeError:  # an array without axes
        raise ValueError('numbers') from None


def axis(value: object) -> tuple:
    """Return three numbers that are not all zero."""
    try:
        result = vector(value)
    except ValueError:
        result = ()
    if len(result) != 3 or not math.hypot(*result) >= SHORTEST:
        raise ValueError('three numbers, not all zero')
    return result


def pose(value: object) -> tuple:
    """Return () or (x, y, z, qx, qy, qz, qw), from that or from (x, y, z) or with roll pitch yaw.

    The quaternion is not normalised here: normalising twice differs from once.
    """
    choices = 'x y z, x y z roll pitch yaw, or x y z and a unit quaternion qx qy qz qw'
    try:
        result = vector(() if value is None else value)
    except ValueError:
        raise ValueError(choices) from None
    if len(result) == 3:
        return (*result, 0.0, 0.0, 0.0, 1.0)
    if len(result) == 6:
        return (*result[:3], *map(float, so3.to_quaternion(so3.from_rpy(result[3:]))))
    if result and (len(result) != 7 or abs(math.hypot(*result[3:]) - 1.0) > UNIT_QUATERNION):
        raise ValueError(choices)
    return result


def joints(value: object) -> tuple:
    """Return () or the names of joints, each once."""
    names = value if isinstance(value, (tuple, list)) else (None,)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError('the names of two joints or, of an expression, of one or more; each once')
    return tuple(names)


def expression(value: object) -> object:
    """Return a text or a function; functions that cannot be hashed are refused."""
    if not isinstance(value, str) and not (callable(value) and isinstance(value, Hashable)):
        raise ValueError('a text, such as q1 - 0.3 * sin(q2), or a function f(q) or f(q, v)')
    return value


CHECKS: dict[str, Callable] = {
    'name': check_name, 'frame': text, 'to': check_name, 'pose': pose, 'to_pose': pose,
    'axis': axis, 'distance': number, 'joints': joints, 'ratio': number, 'offset': number,
    'friction': coefficient, 'pitch': number, 'radius': number, 'axle': axis,
    'expression': expression,
}


def checked_field(name: object, field: str, value: object) -> object:
    """Return the value of a field as plain data, or raise a DynamicsError that names it."""
    try:
        return CHECKS[field](value)
    except ValueError as error:
        refuse(name if isinstance(name, str) else short(name), field, f'is {short(value)}',
               str(error))
