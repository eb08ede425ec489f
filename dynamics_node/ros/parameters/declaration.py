"""How a parameter is declared: default, meaning, unit, range or choices; and common checks."""

import math
from dataclasses import field

from dynamics_node.errors import DynamicsError


def parameter(default, text, unit='', bounds=None, one_of=None, read_only=False, check=None):
    """Return a field of Parameters.

    :param bounds: (least, greatest) valid number.
    :param check: f(name, value), raises a DynamicsError.
    """
    metadata = {'text': f'{text} [{unit}]' if unit else text, 'bounds': bounds, 'one_of': one_of,
                'read_only': read_only, 'check': check}
    return field(default=default, metadata=metadata)


def three_numbers(name, value):
    if len(value) != 3 or not all(map(math.isfinite, value)):
        raise DynamicsError(f'{name} is {list(value)}; expected three finite numbers x y z')


def not_negative(name, values):
    """Refuse what is not one number or more, zero or positive."""
    if not len(values) or not all(math.isfinite(x) and x >= 0.0 for x in values):
        raise DynamicsError(f'{name} is {list(values)}; expected one number, or one per joint, '
                            'zero or positive')
