"""Read from YAML which columns of a data set hold which joints, in which order and unit.

    position:
      column: observation.state        # a list of numbers in each row
      joints: [joint_1, joint_2, null] # of its entries; null: no joint, such as a gripper
      unit: deg
    effort:
      columns: [tau_1, tau_2]          # or one column for each entry
      joints: [joint_1, joint_2]
      meaning: motor_torque
    time: {column: timestamp, unit: s}
    episode: episode_index
    rate: 30

| key | meaning |
|---|---|
| `position` | the measured positions of all joints of the robot |
| `effort` | torques, for external torques and forward dynamics; `meaning`: observer.meaning_of |
| `time` | for derivatives; without it rows are `1/rate` apart. Units: s, ms, us, ns |
| `episode` | a change of its value begins another episode; without it a file is one |
| `rate` | [Hz] times are rounded to multiples of `1/rate`; without it they are used as they are |

An effort of the meaning `current` needs `torque_constants: {joint: N m/A}`.

Of `position` and `effort`: `joints` names the entries (without it: the joints of the robot, in its
order); `scale` and `offset` are {joint: number} for value = scale * entry + offset, after
the conversion of units. Units of positions: `rad` (m for a prismatic joint), `deg` (mm), and
`normalised` with `range: [-100, 100]`: these two numbers are the limits of the joint in the model.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from dynamics_node.checks import finite, positive
from dynamics_node.errors import DynamicsError, UnknownName, shown
from dynamics_node.observer.effort_meaning import MEANINGS
from dynamics_node.robot.arguments import check_robot
from dynamics_node.robot.robot import Robot
from dynamics_node.yaml_records import MAX_VALUES, numbers, text_of
from dynamics_node.yaml_text import load_yaml

KEYS = ('position', 'effort', 'time', 'episode', 'rate')
JOINT_KEYS = ('column', 'columns', 'joints', 'unit', 'range', 'scale', 'offset')
EFFORT_KEYS = ('column', 'columns', 'joints', 'scale', 'offset', 'meaning', 'torque_constants')
ANGLES = ('rad', 'deg', 'normalised')
SECONDS = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}


@dataclass(frozen=True)
class JointColumns:
    """Columns with one number per joint: one column of lists, or one column per entry."""

    columns: tuple[str, ...]
    joints: tuple[str | None, ...]   # of the entries; None: no joint of the robot
    is_list: bool
    unit: str = 'rad'
    range: tuple[float, float] = (-100.0, 100.0)        # of normalised positions
    scale: Mapping[str, float] = field(default_factory=dict)
    offset: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ColumnMapping:
    """Where the measurements of a robot are in the columns of a data set."""

    position: JointColumns
    effort: JointColumns | None = None
    time: str | None = None
    time_unit: str = 's'
    episode: str | None = None
    rate: float | None = None        # [Hz]
    meaning: str = 'unknown'         # of the effort
    torque_constants: Mapping[str, float] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns that are read, each once."""
        named = [*self.position.columns, *(self.effort.columns if self.effort else ()),
                 self.time, self.episode]
        return tuple(dict.fromkeys(name for name in named if name is not None))


def read_mapping(robot: Robot, source: str | PathLike | Mapping) -> ColumnMapping:
    """Return the ColumnMapping of a YAML file, a YAML text or a dict.

    :raise DynamicsError: names the key and the valid values.
    """
    check_robot(robot)
    found = text_of('mapping', source)
    if isinstance(found, str):
        try:
            found = load_yaml(found, MAX_VALUES)
        except DynamicsError as error:
            raise DynamicsError(f'mapping is not valid YAML: {error}') from error
    found = _checked_keys('mapping', found, KEYS)
    if 'position' not in found:
        raise DynamicsError('mapping has no position; expected position: {column: NAME} or '
                            'position: {columns: [NAME, ...], joints: [JOINT, ...]}')
    position = _joint_columns(robot, 'position', found['position'], JOINT_KEYS)
    _check_all_joints(robot, position)
    effort, meaning, constants = None, 'unknown', {}
    if found.get('effort') is not None:
        effort = _joint_columns(robot, 'effort', found['effort'], EFFORT_KEYS)
        meaning = _one_of('effort: meaning', found['effort'].get('meaning', 'unknown'), MEANINGS)
        constants = _by_joint(robot, 'effort: torque_constants',
                              found['effort'].get('torque_constants'))
    time = found.get('time')
    time = {'column': time} if isinstance(time, str) else _checked_keys(
        'time', {} if time is None else time, ('column', 'unit'))
    rate = found.get('rate')
    if not time and rate is None:
        raise DynamicsError('mapping has neither time nor rate; expected time: {column: NAME, '
                            'unit: s} or rate: HZ')
    return ColumnMapping(
        position, effort, _optional_name('time: column', time.get('column')),
        _one_of('time: unit', time.get('unit', 's'), SECONDS),
        _optional_name('episode', found.get('episode')),
        None if rate is None else positive('rate', numbers(rate)), meaning, constants)


def _joint_columns(robot: Robot, name: str, given: Any, keys: Sequence[str]) -> JointColumns:
    given = _checked_keys(name, given, keys)
    if ('column' in given) == ('columns' in given):
        raise DynamicsError(f'{name} is {shown(given)}; expected either column: NAME, a column of '
                            'lists, or columns: [NAME, ...], one for each joint')
    is_list = 'column' in given
    columns = _names(f'{name}: column', [given['column']] if is_list else given['columns'])
    joints = given.get('joints')
    joints = list(robot.joint_names) if joints is None else joints
    if not isinstance(joints, Sequence) or isinstance(joints, str):
        raise DynamicsError(f'{name}: joints is {shown(joints)}; expected a list of joints, null '
                            'where an entry is not a joint')
    named = [joint for joint in joints if joint is not None]
    for joint in named:
        if joint not in robot.joint_names:
            raise DynamicsError(f'{name}: joints: {UnknownName("joint", joint, robot.joint_names)}'
                                '; null: an entry that is not a joint of it')
        if named.count(joint) > 1:
            raise DynamicsError(f"{name}: joints has '{joint}' twice")
    if not is_list and len(columns) != len(joints):
        raise DynamicsError(f'{name} has {len(columns)} columns and {len(joints)} joints; expected '
                            'one joint for each column')
    unit = _one_of(f'{name}: unit', given.get('unit', 'rad'), ANGLES)
    limits = finite(f'{name}: range', numbers(given.get('range', (-100.0, 100.0))), (2,))
    if limits[0] >= limits[1]:
        raise DynamicsError(f'{name}: range is {limits.tolist()}; expected [lower, upper]')
    return JointColumns(columns, tuple(joints), is_list, unit, (float(limits[0]), float(limits[1])),
                        _by_joint(robot, f'{name}: scale', given.get('scale')),
                        _by_joint(robot, f'{name}: offset', given.get('offset')))


def _check_all_joints(robot: Robot, position: JointColumns) -> None:
    missing = [name for name in robot.joint_names if name not in position.joints]
    if missing:
        raise DynamicsError(f'position: joints lacks {", ".join(missing)} of the robot; name them, '
                            'or lock them when the URDF is read')


def _checked_keys(name: str, given: Any, keys: Sequence[str]) -> dict:
    if not isinstance(given, Mapping):
        raise DynamicsError(f'{name} is {shown(given)}; expected a mapping with the keys '
                            f'{", ".join(keys)}')
    for key in given:
        if key not in keys:
            raise DynamicsError(f'{name} has the unknown key {shown(key)}; expected: '
                                f'{", ".join(keys)}')
    return dict(given)


def _names(name: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str) or not values or not all(
            isinstance(each, str) and each for each in values):
        raise DynamicsError(f'{name} is {shown(values)}; expected names of columns')
    return tuple(values)


def _optional_name(name: str, value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and value):
        raise DynamicsError(f'{name} is {shown(value)}; expected the name of a column')
    return value


def _one_of(name: str, value: Any, choices: Collection[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise DynamicsError(f'{name} is {shown(value)}; expected one of {", ".join(choices)}')
    return value


def _by_joint(robot: Robot, name: str, given: Any) -> dict[str, float]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise DynamicsError(f'{name} is {shown(given)}; expected {{joint: number}}')
    for joint in given:
        if joint not in robot.joint_names:
            raise DynamicsError(f'{name}: {UnknownName("joint", joint, robot.joint_names)}')
    return {joint: float(finite(f"{name}['{joint}']", numbers(value), ()))
            for joint, value in given.items()}
