"""Declare a parameter as a dataclass field: default, meaning, unit, range or choices, check."""

import math
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from dynamics_node.errors import DynamicsError


def parameter(default: Any, text: str, unit: str = '', bounds: tuple[float, float] | None = None,
              one_of: Sequence[str] | None = None, read_only: bool = False,
              check: Callable[[str, Any], Any] | None = None) -> Any:
    """Return a dataclass field that declares a parameter.

    :param text: meaning, shown by `ros2 param describe`.
    :param bounds: (least, greatest) valid number.
    :param one_of: valid choices.
    :param read_only: may be set at start only.
    :param check: f(name, value), raises a DynamicsError.
    """
    metadata = {'text': f'{text} [{unit}]' if unit else text, 'bounds': bounds, 'one_of': one_of,
                'read_only': read_only, 'check': check}
    return field(default=default, metadata=metadata)


def three_numbers(name: str, value: Sequence[float]) -> None:
    """Refuse a value that is not three finite numbers."""
    if len(value) != 3 or not all(map(math.isfinite, value)):
        raise DynamicsError(f'{name} is {list(value)}; expected three finite numbers x y z')


def not_negative(name: str, values: Sequence[float]) -> None:
    """Refuse an empty value, and negative or infinite numbers."""
    if not len(values) or not all(math.isfinite(x) and x >= 0.0 for x in values):
        raise DynamicsError(f'{name} is {list(values)}; expected one number, or one per joint, '
                            'zero or positive')
