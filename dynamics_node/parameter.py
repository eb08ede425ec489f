"""Declare a parameter once, as a dataclass field: default, meaning, unit, range or choices.

`check_parameter` is the one check of a value against its declaration. The value of a parameter
that joints may have one by one is a PerJoint.
"""

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field
from typing import Any, TypeGuard

import numpy as np

from dynamics_node.errors import DynamicsError, shown


@dataclass(frozen=True)
class PerJoint:
    """One number per joint: those that are named, and one for all other joints."""

    default: float | None = None   # None: other joints have no number
    named: dict[str, float] = field(default_factory=dict)   # {joint: number}

    def each(self, names: Sequence[str]) -> np.ndarray:
        """Return the numbers of some joints; nan where a joint has none."""
        return np.array([self.named.get(name, self.default) for name in names], dtype=float)

    def only(self, joint: str) -> 'PerJoint':
        """Return the number of one joint and that of all others, without the other named ones."""
        return PerJoint(self.default, {name: x for name, x in self.named.items() if name == joint})


def parameter(default: Any, text: str, unit: str = '', bounds: tuple[float, float] | None = None,
              one_of: Sequence[str] | None = None, read_only: bool = False,
              check: Callable[[str, Any], object] | None = None) -> Any:
    """Return the dataclass field of a parameter.

    :param bounds: (least, greatest) valid number.
    :param one_of: the valid choices.
    :param read_only: whether it is fixed when the node starts.
    :param check: f(name, value), raises a DynamicsError.

    For a PerJoint, bounds and check apply to each number.
    """
    metadata = {'text': f'{text} [{unit}]' if unit else text, 'bounds': bounds, 'one_of': one_of,
                'read_only': read_only, 'check': check}
    return field(default=default, metadata=metadata)


def check_parameter(name: str, value: Any, declared: Field) -> None:
    """Check a value against the declaration of its parameter.

    :raise DynamicsError: names the parameter, the value and the valid values.
    """
    meta = declared.metadata
    if meta['one_of'] and not (isinstance(value, str) and value in meta['one_of']):
        raise DynamicsError(f'{name} is {shown(value)}; valid choices are '
                            f'{", ".join(meta["one_of"])}')
    if meta['bounds']:
        least, greatest = meta['bounds']
        if not (_is_number(value) and least <= value <= greatest):
            raise DynamicsError(f'{name} is {shown(value)}; expected a number from {least:g} to '
                                f'{greatest:g}')
    elif isinstance(declared.default, PerJoint) and not _is_number(value):
        raise DynamicsError(f'{name} is {shown(value)}; expected a finite number')
    if meta['check']:
        meta['check'](name, value)


def three_numbers(name: str, value: Sequence[float]) -> None:
    """Check three finite numbers."""
    if len(value) != 3 or not all(map(math.isfinite, value)):
        raise DynamicsError(f'{name} is {list(value)}; expected three finite numbers x y z')


def up_to(greatest: float) -> Callable[[str, Sequence[float]], None]:
    """Return a check of one number or more, from zero to the greatest."""
    def check(name: str, values: Sequence[float]) -> None:
        if not len(values) or not all(math.isfinite(x) and 0.0 <= x <= greatest for x in values):
            raise DynamicsError(f'{name} is {list(values)}; expected one number or more, from 0 '
                                f'to {greatest:g}')
    return check


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Return whether a value is a list, tuple or array; a text and bytes are none."""
    return isinstance(value, (list, tuple, array))


def names_of(name: str, value: Any) -> list[str]:
    """Return the names in a list of texts; empty texts are left out.

    An empty list has no type in ROS: [''] is one that a file, a launch file and `ros2 param set`
    can give.
    """
    if not is_list(value) or not all(isinstance(each, str) for each in value):
        words = value.replace(',', ' ').split() if isinstance(value, str) else []
        raise DynamicsError(f'{name} is {shown(value)}; expected a list of names, such as '
                            f"{shown(words or ['first', 'second'])}; ['']: none")
    return [each for each in value if each]


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, (bool, str, np.ndarray)) and math.isfinite(value)
    except Exception:  # float() of an object may raise anything
        return False
