"""How a parameter is declared: default, meaning, unit, range or choices; and common checks."""

import math
import re
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


def named_numbers(name, text):
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
            raise DynamicsError(f"{name} speaks of joint '{joint}' twice")
        numbers[joint] = float(number)
    return numbers


def three_numbers(name, value):
    if len(value) != 3 or not all(map(math.isfinite, value)):
        raise DynamicsError(f'{name} is {list(value)}; expected three finite numbers x y z')


def not_negative(name, values):
    """Refuse what is not one number or more, zero or positive."""
    if not len(values) or not all(math.isfinite(x) and x >= 0.0 for x in values):
        raise DynamicsError(f'{name} is {list(values)}; expected one number, or one per joint, '
                            'zero or positive')
