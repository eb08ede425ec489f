"""Read the launch arguments that are lists of joints, or numbers of joints. Independent of ROS."""

from __future__ import annotations

import math
import re

from dynamics_node.checks import named_numbers
from dynamics_node.errors import DynamicsError
from dynamics_node.parameter import names_of
from dynamics_node.yaml_text import load_yaml

MOST = 10_000   # values in one argument


def joint_names(argument: str, text: str) -> list[str]:
    """Return the names in a YAML list, or separated by spaces or commas.

    :raise DynamicsError: names the argument.
    """
    if text.strip().startswith('['):
        content = load_yaml(text, MOST)
        return names_of(f'argument {argument}', content)
    return [name for name in re.split(r'[\s,]+', text) if name]


def joint_numbers(argument: str, text: str) -> dict[str, float]:
    """Return {joint: number} of a YAML map, or of a text such as 'finger_1=0.02 finger_2=0.02'.

    :raise DynamicsError: names the argument.
    """
    if not text.strip().startswith('{'):
        return named_numbers(f'argument {argument}', text)
    content = load_yaml(text, MOST)
    assert isinstance(content, dict)   # YAML that begins with a brace
    for joint, number in content.items():
        if not (isinstance(joint, str) and type(number) in (int, float)
                and math.isfinite(number)):
            raise DynamicsError(f'argument {argument} has {joint}: {number}; expected a map such '
                                'as {finger_1: 0.02, finger_2: 0.02}')
    return {joint: float(number) for joint, number in content.items()}
