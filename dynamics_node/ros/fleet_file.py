"""Read a fleet file: the robots that fleet.launch.py starts on one machine. Independent of ROS."""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from dynamics_node.errors import DynamicsError, FileError, shown
from dynamics_node.files import read_text
from dynamics_node.yaml_text import load_yaml

MAX_BYTES = 1_000_000
MAX_VALUES = 20_000
NAMESPACE = re.compile(r'/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*\Z')
EXPECTED = ('expected a map such as {defaults: {robot_description_file: arm.urdf}, robots: '
            '{arm_1: {}, arm_2: {mode: impedance}}}')
# Relative paths in the file are relative to the folder of the file.
PATHS = ('robot_description_file', 'params_file')


def read_fleet(path: str | os.PathLike, arguments: Collection[str]) -> dict[str, dict[str, str]]:
    """Return {namespace of a robot: {launch argument: text}}.

        defaults: {robot_description_file: arm.urdf}
        robots:
          arm_1: {}
          arm_2: {mode: impedance}

    :param arguments: the launch arguments that a robot may have; `namespace` is its key.
    :raise DynamicsError: names the file, the robot and the valid choices.
    """
    try:
        found = load_yaml(read_text(path, MAX_BYTES), MAX_VALUES)
    except FileError as error:
        raise DynamicsError(f'fleet_file: {error}') from error
    except DynamicsError as error:
        raise DynamicsError(f'{path} is not valid YAML: {error}') from error
    if not isinstance(found, dict) or not set(found) <= {'defaults', 'robots'}:
        raise DynamicsError(f'{path} has {shown(found)}; {EXPECTED}')
    robots = found.get('robots')
    if not isinstance(robots, dict) or not robots:
        raise DynamicsError(f'{path} has robots: {shown(robots)}; {EXPECTED}')
    folder = os.path.dirname(os.path.abspath(path))
    defaults = _texts(f'defaults of {path}', found.get('defaults'), arguments, folder)
    fleet = {_namespace(path, name): defaults | _texts(f'robot {name} of {path}', own, arguments,
                                                       folder)
             for name, own in robots.items()}
    if len(fleet) < len(robots):
        raise DynamicsError(f'{path} has robots with equal namespaces: {", ".join(robots)}')
    return fleet


def _namespace(path: str | os.PathLike, name: object) -> str:
    if not isinstance(name, str) or not NAMESPACE.match(name):
        raise DynamicsError(f'{path} has a robot named {shown(name)}; its name is its namespace: '
                            'letters, digits and _, not beginning with a digit, such as arm_1')
    return name.strip('/')


def _texts(where: str, values: object, arguments: Collection[str], folder: str) -> dict[str, str]:
    """Return {launch argument: text} of a map of the file."""
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise DynamicsError(f'{where}: {shown(values)} is not a map; {EXPECTED}')
    valid = sorted(set(arguments) - {'namespace'})
    for name, value in values.items():
        if name not in valid:
            raise DynamicsError(f'{where} has {shown(name)}; valid are {", ".join(valid)}')
        if isinstance(value, (dict, list)) or value is None:
            raise DynamicsError(f'{where} has {name}: {shown(value)}; expected a text, as it is '
                                'given to ros2 launch')
    return {name: _text(name, value, folder) for name, value in values.items()}


def _text(name: str, value: object, folder: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return os.path.join(folder, os.path.expanduser(str(value))) if name in PATHS else str(value)
