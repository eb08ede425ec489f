"""Find the joints in a data set without a mapping file: LeRobot's layout, or columns by name.

A data set of LeRobot has `meta/info.json` above its files; lists `observation.state` (positions),
perhaps `observation.effort`; `timestamp` [s], `episode_index`, and its rate as `fps`. `names`
in info.json gives the joint of each entry, with or without an ending such as `.pos`. If it is
missing, or has no name of a joint of the robot, the entries are the joints in the robot's order. If
it names only some of the joints, the data set is refused.

Other files have one column per quantity and joint, with the names of `identification`
(`position_<joint>`, `effort_<joint>`, `q1`, ...) and a column `time`.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from dynamics_node.data.column_mapping import ColumnMapping, JointColumns, read_mapping
from dynamics_node.errors import DynamicsError, FileError
from dynamics_node.files import read_text
from dynamics_node.identification.column_names import PATTERNS, TIMES, WORDS
from dynamics_node.robot.robot import Robot

INFO = Path('meta', 'info.json')
STATE, EFFORT = 'observation.state', 'observation.effort'
MAX_BYTES = 10_000_000
GIVE = 'give a mapping file'


def dataset_root(path: str | os.PathLike) -> Path | None:
    """Return the folder of LeRobot's data set that has this file or is this folder, or None."""
    path = Path(path)
    return next((folder for folder in (path, *path.absolute().parents)
                 if (folder / INFO).is_file()), None)


def default_mapping(robot: Robot, path: str | os.PathLike, columns: Sequence[str]
                    ) -> ColumnMapping:
    """Return the ColumnMapping of a file by the names of its columns.

    :raise DynamicsError: the columns do not name every joint of the robot.
    """
    if STATE in columns:
        return _of_lerobot(robot, dataset_root(path), columns)
    found = _by_name(robot, columns)
    missing = [name for name in robot.joint_names if name not in found['position']]
    if missing:
        raise DynamicsError(
            f"{path} has no column '{STATE}', and none with the position of joint "
            f"'{missing[0]}', such as position_{missing[0]}; its columns are "
            f'{", ".join(columns)}. {GIVE.capitalize()}')
    position = JointColumns(tuple(found['position'].values()), tuple(found['position']), False)
    effort = (JointColumns(tuple(found['effort'].values()), tuple(found['effort']), False)
              if found['effort'] else None)
    time = next((name for name in columns if name.lower() in TIMES), None)
    episode = next((name for name in columns if name in ('episode_index', 'episode')), None)
    return ColumnMapping(position, effort, time, episode=episode)


def _by_name(robot: Robot, columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return {quantity: {joint: column}} of columns that are named after joints."""
    found: dict[str, dict[str, str]] = {'position': {}, 'effort': {}}
    for name in columns:
        match = next(filter(None, (pattern.fullmatch(name) for pattern in PATTERNS)), None)
        if match and WORDS[match['word']] in found:
            found[WORDS[match['word']]][match['joint']] = name
    for quantity, by_joint in found.items():
        numbered = sorted((joint for joint in by_joint if joint.isdecimal()), key=int)
        if len(numbered) == len(robot.joint_names) == len(by_joint):
            found[quantity] = {joint: by_joint[number]
                               for joint, number in zip(robot.joint_names, numbered)}
        else:
            found[quantity] = {joint: column for joint, column in by_joint.items()
                               if joint in robot.joint_names}
    return found


def _of_lerobot(robot: Robot, root: Path | None, columns: Sequence[str]) -> ColumnMapping:
    info = {} if root is None else _info(root / INFO)
    mapping = {'position': {'column': STATE, 'joints': _joints(robot, info, STATE)},
               'time': 'timestamp' if 'timestamp' in columns else None,
               'episode': 'episode_index' if 'episode_index' in columns else None,
               'rate': info.get('fps')}
    if EFFORT in columns:
        mapping['effort'] = {'column': EFFORT, 'joints': _joints(robot, info, EFFORT)}
    return read_mapping(robot, mapping)


def _joints(robot: Robot, info: dict, column: str) -> list[str | None] | None:
    """Return the joints of a list's entries; the joints of the robot if info.json has no names."""
    feature = info.get('features', {}).get(column, {})
    names, shape = feature.get('names'), feature.get('shape')
    if isinstance(names, Mapping):   # {'motors': [...]} in older data sets
        names = next(iter(names.values()), None)
    joints = [_joint(robot, name) for name in names] if isinstance(names, list) else []
    if {*joints} >= {*robot.joint_names}:
        return joints
    if any(joints) or (isinstance(shape, list) and shape != [len(robot.joint_names)]):
        raise DynamicsError(
            f"'{column}' has the entries {names or shape[0]}, the robot has the joints "
            f'{list(robot.joint_names)}; {GIVE} with position: {{column: {column}, joints: [...]}}')
    return None


def _joint(robot: Robot, name: object) -> str | None:
    """Return the joint of an entry's name, None if the robot has none."""
    text = str(name)
    return next((each for each in (text, text.rpartition('.')[0]) if each in robot.joint_names),
                None)


def _info(path: Path) -> dict:
    try:
        found = json.loads(read_text(path, MAX_BYTES))
    except FileError as error:
        raise DynamicsError(f'{error.shown} cannot be read: {error.reason}') from error
    except (ValueError, RecursionError) as error:
        raise DynamicsError(f'{path} is no JSON: {error}; {GIVE}') from error
    features = found.get('features', {}) if isinstance(found, dict) else None
    if not isinstance(features, dict) or not all(isinstance(x, dict) for x in features.values()):
        raise DynamicsError(f'{path} is not the info.json of a data set; {GIVE}')
    return found
