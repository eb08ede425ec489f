"""Declare a parameter once, as a dataclass field: default, meaning, unit, range or choices.

`check_parameter` is the one check of a value against its declaration.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import Field, field
from typing import Any

import numpy as np

from dynamics_node.errors import DynamicsError, shown


def parameter(default: Any, text: str, unit: str = '', bounds: tuple[float, float] | None = None,
              one_of: Sequence[str] | None = None, read_only: bool = False,
              check: Callable[[str, Any], object] | None = None) -> Any:
    """Return the dataclass field of a parameter.

    :param bounds: (least, greatest) valid number.
    :param one_of: the valid choices.
    :param read_only: whether it is fixed when the node starts.
    :param check: f(name, value), raises a DynamicsError.
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
    if meta['check']:
        meta['check'](name, value)


def three_numbers(name: str, value: Sequence[float]) -> None:
    """Check three finite numbers."""
    if len(value) != 3 or not all(map(math.isfinite, value)):
        raise DynamicsError(f'{name} is {list(value)}; expected three finite numbers x y z')


def not_negative(name: str, values: Sequence[float]) -> None:
    """Check one number or more, zero or positive."""
    if not len(values) or not all(math.isfinite(x) and x >= 0.0 for x in values):
        raise DynamicsError(f'{name} is {list(values)}; expected one number, or one per joint, '
                            'zero or positive')


def up_to(greatest: float) -> Callable[[str, Sequence[float]], None]:
    """Return a check of one number or more, from zero to the greatest."""
    def check(name: str, values: Sequence[float]) -> None:
        not_negative(name, values)
        if max(values) > greatest:
            raise DynamicsError(f'{name} is {list(values)}; expected at most {greatest:g}')
    return check


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, (bool, str, np.ndarray)) and math.isfinite(value)
    except Exception:  # float() of an object may raise anything
        return False
