"""Read joint states from a ROS 2 bag, mcap or sqlite3, without ROS."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dynamics_node.errors import DynamicsError, FileError
from dynamics_node.files import check_file, read_text
from dynamics_node.identification.recording import RawRecording, raw_recording
from dynamics_node.yaml_text import load_yaml

JOINT_STATE = 'sensor_msgs/msg/JointState'
MAX_BYTES = 10 ** 12         # of a storage file; other topics in it are not read
MAX_METADATA, MAX_VALUES = 10_000_000, 1_000_000   # bytes, values
MAX_MESSAGES = 10_000_000    # of joint states
URI = {'%', '?', '#'}   # rosbags passes the path of a .db3 file to SQLite as part of a URI
LONGEST_STEP = 3.5    # in usual steps: no interpolation across longer gaps
EXPECTED = 'expected a ROS 2 bag, a folder with metadata.yaml or a file .mcap or .db3'
Series = tuple[Sequence[int], Sequence[int], Sequence]
JointSeries = tuple[np.ndarray, np.ndarray]   # of one joint: times (n,) [ns], rows (n, 3)
INSTALL = 'reading bags needs the package rosbags: pip install rosbags'


def read_bag(path: str | os.PathLike, topic: str = '/joint_states') -> RawRecording:
    """Return the RawRecording of all joints on a topic of sensor_msgs/JointState.

    Messages may have some of the joints, in any order (an arm and a gripper): they are merged
    by name. The times are those of the joint with most samples; others are interpolated to them,
    with NaN in their gaps. Stamps are those of the headers; if all are zero, the times of arrival.

    :param path: the folder of a bag (with metadata.yaml) or its .mcap or .db3 file.
    :raise DynamicsError: there is no bag, no such topic, or no joint states on it.
    """
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise DynamicsError(INSTALL) from error
    path = Path(path)
    try:
        _check_files(path)
    except FileError as error:
        if error.missing and error.path == path:
            raise DynamicsError(f'there is no bag {error.shown}') from error
        raise DynamicsError(f'{error.shown} cannot be read: {error.reason}; {EXPECTED}') from error
    try:
        # bags from before Iron do not hold their message types
        with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
            return merge_joint_states(path, _series(reader, _connections(path, reader, topic)))
    except DynamicsError:
        raise
    except Exception as error:
        # A damaged file: rosbags, SQLite and Python raise different errors, some with its content.
        raise DynamicsError(f'{path} cannot be read: it is damaged or too large '
                            f'({type(error).__name__}); {EXPECTED}') from error


def _check_files(path: Path) -> None:
    """Refuse files that rosbags would block on or fail to read."""
    if not os.path.isdir(path):
        _check_storage(path)
        return
    metadata = path / 'metadata.yaml'
    try:
        found: Any = load_yaml(read_text(metadata, MAX_METADATA), MAX_VALUES)
        names = [Path(name).name for name in
                 found['rosbag2_bagfile_information']['relative_file_paths']]
    except FileError:
        raise
    except (KeyError, TypeError) as error:
        raise FileError(metadata, f'it is not the metadata of a bag: {error!r}') from error
    except DynamicsError as error:
        raise FileError(metadata, 'it is not valid YAML, or too long or nested too deep') from error
    for name in names:
        _check_storage(path / name)


def _check_storage(path: Path) -> None:
    if set(str(path)) & URI:
        raise FileError(path, f'its path has one of the characters {" ".join(sorted(URI))}')
    check_file(path, MAX_BYTES)


def _connections(path: Path, reader: Any, topic: str) -> list:
    chosen = [c for c in reader.connections if c.topic == topic and c.msgtype == JOINT_STATE]
    if not chosen:
        known = sorted({c.topic for c in reader.connections if c.msgtype == JOINT_STATE})
        raise DynamicsError(f"{path} has no joint states on '{topic}'; "
                            f'it has them on: {", ".join(known) or "no topic"}')
    return chosen


def _series(reader: Any, connections: Sequence) -> dict[tuple[str, ...], tuple[list, list, list]]:
    """Return {names: [times in header, times of arrival, rows of position, velocity, effort]}."""
    series: dict[tuple[str, ...], tuple[list, list, list]] = {}
    for k, (connection, arrival, data) in enumerate(reader.messages(connections=connections)):
        if k == MAX_MESSAGES:
            raise DynamicsError(f'the bag has more than {MAX_MESSAGES} joint states; record less, '
                                'or cut it with ros2 bag convert')
        message = reader.deserialize(data, connection.msgtype)
        stamp = message.header.stamp
        rows = series.setdefault(tuple(message.name), ([], [], []))
        rows[0].append(stamp.sec * 1_000_000_000 + stamp.nanosec)
        rows[1].append(arrival)
        rows[2].append([field_or_nan(field, len(message.name)) for field in (
            message.position, message.velocity, message.effort)])
    return series


def field_or_nan(field: Sequence[float], n: int) -> Sequence[float] | np.ndarray:
    """Return the field of a message, NaN (n,) if it does not have one value per joint."""
    return field if len(field) == n else np.full(n, np.nan)


def merge_joint_states(source: object, series: Mapping[tuple[str, ...], Series]) -> RawRecording:
    """Return the RawRecording of messages with some of the joints each.

    :param source: for error messages: where the joint states come from.
    :param series: {names: (stamps [ns], times of arrival [ns], rows)}; a row has the position,
        velocity and effort of these joints, NaN where the message has none.
    """
    stamped = any(any(stamps) for stamps, _, _ in series.values())
    parts: dict[str, list[JointSeries]] = {}
    for names, (stamps, arrivals, rows) in series.items():
        time = np.array(stamps if stamped else arrivals, dtype=np.int64)
        values = np.array(rows, dtype=float).reshape(len(rows), 3, len(names))
        for k, name in enumerate(names):
            parts.setdefault(name, []).append((time, values[:, :, k]))
    if not parts:
        raise DynamicsError(f'{source}: the joint states have no joint names')
    joints = {name: _in_time(own) for name, own in parts.items()}
    base = max(joints.values(), key=lambda joint: len(joint[0]))[0]
    seconds = (base - base[0]) * 1e-9     # from the first one: nanoseconds since 1970 need 61 bits
    columns = np.stack([_at(base, *joint) for joint in joints.values()], axis=-1)
    q, v, tau = columns[:, 0], columns[:, 1], columns[:, 2]
    return raw_recording(tuple(joints), seconds, q, tau, v if np.isfinite(v).any() else None)


def _in_time(parts: Sequence[JointSeries]) -> JointSeries:
    """Return (time, rows) of one joint from all publishers that have it.

    A single publisher keeps its order, so that a clock that runs backwards is detected later.
    """
    if len(parts) == 1:
        return parts[0]
    time = np.concatenate([time for time, _ in parts])
    order = np.argsort(time, kind='stable')
    return time[order], np.concatenate([rows for _, rows in parts])[order]


def _at(base: np.ndarray, time: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the rows interpolated to other times, (len(base), 3); NaN in gaps and outside."""
    if np.array_equal(base, time):
        return rows
    if len(time) < 2 or (np.diff(time) <= 0).any() or (np.diff(base) <= 0).any():
        return _exact(base, time, rows)
    right = np.clip(np.searchsorted(time, base), 1, len(time) - 1)
    step = time[right] - time[right - 1]
    share = ((base - time[right - 1]) / step)[:, None]
    between = rows[right - 1] * (1.0 - share) + rows[right] * share
    inside = (share >= 0.0) & (share <= 1.0)
    near = step[:, None] <= LONGEST_STEP * np.median(np.diff(time))
    return np.where(inside & near, between, np.nan)


def _exact(base: np.ndarray, time: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the rows at identical stamps, NaN elsewhere: without interpolation."""
    found = dict(zip(time.tolist(), rows))
    missing = np.full(3, np.nan)
    return np.array([found.get(t, missing) for t in base.tolist()])
