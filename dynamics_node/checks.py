"""Check values that a user gives: numbers, arrays, names, choices."""

import math
import re

from dynamics_node.errors import DynamicsError


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
