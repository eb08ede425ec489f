"""Read and write joint trajectories: trajectory_msgs/JointTrajectory in YAML, or a CSV table.

Tables have the header `time,position_<joint>,...` and optional columns `velocity_<joint>` and
`acceleration_<joint>`, in any order; other columns are ignored. The YAML is what `ros2 topic echo`
prints; `dynamics_node follow` sends such a file to the topic `~/reference` of the node.
"""

import csv
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.checks import positive
from dynamics_node.errors import DynamicsError, FileError
from dynamics_node.files import read_text
from dynamics_node.identification.csv_files import write_table
from dynamics_node.identification.fourier import Fourier
from dynamics_node.yaml_text import load_yaml

QUANTITIES = ('position', 'velocity', 'acceleration')
MAX_BYTES = 200_000_000    # ten minutes of seven joints at 1 kHz
MAX_VALUES = 5_000_000     # of YAML
LONGEST_MESSAGE = 200
DIGITS = 9                 # of positions and their rates: nanoradians


class TimedPoints(NamedTuple):
    """Points of a trajectory."""

    joint_names: tuple[str, ...]
    times: np.ndarray                   # (N,) [s]
    positions: np.ndarray               # (N, joints) [rad or m]
    velocities: np.ndarray | None       # None if the file has none
    accelerations: np.ndarray | None


def read_trajectory(path: str | os.PathLike) -> TimedPoints:
    """Return the TimedPoints of a file: YAML if its name ends in .yaml or .yml, else a table.

    :raise DynamicsError: the file cannot be read; the message names column, line or point.
    """
    try:
        text = read_text(path, MAX_BYTES)
    except FileError as error:
        raise DynamicsError(f'{error.shown} cannot be read: {error.reason}') from error
    if Path(path).suffix in ('.yaml', '.yml'):
        return _of_message(path, text)
    return _of_table(path, text)


def _of_table(path: str | os.PathLike, text: str) -> TimedPoints:
    try:
        header, *rows = [row for row in csv.reader(text.splitlines()) if row] or [[]]
    except csv.Error as error:
        raise DynamicsError(f'{path} is not a table: {error}') from error
    header = [name.strip() for name in header]
    joints = tuple(name.removeprefix('position_') for name in header
                   if name.startswith('position_'))
    if 'time' not in header or not joints or len(set(header)) < len(header):
        shown = ', '.join(header[:6])[:LONGEST_MESSAGE]
        raise DynamicsError(f'{path} has the columns {shown or "(none)"}; expected each once: '
                            'time, position_<joint>, and velocity_<joint>, acceleration_<joint> '
                            'where known')
    table = np.array([_numbers(path, k, row, len(header)) for k, row in enumerate(rows, 2)])
    if not len(table):
        raise DynamicsError(f'{path} has only a header')
    columns = {name: table[:, k] for k, name in enumerate(header)}
    positions, velocities, accelerations = (
        _all_or_none(path, [columns.get(f'{quantity}_{joint}') for joint in joints], quantity)
        for quantity in QUANTITIES)
    assert positions is not None   # each joint is named by its column of positions
    return TimedPoints(joints, columns['time'], positions, velocities, accelerations)


def _numbers(path: str | os.PathLike, line: int, row: list[str], width: int) -> list[float]:
    if len(row) != width:
        raise DynamicsError(f'{path}, line {line} has {len(row)} cells; expected {width}, as many '
                            'as the header')
    try:
        return [float(cell) for cell in row]
    except ValueError as error:
        raise DynamicsError(f'{path}, line {line}: {error}') from error


def _all_or_none(path: str | os.PathLike, columns: Sequence[np.ndarray | None], quantity: str
                 ) -> np.ndarray | None:
    known = [column for column in columns if column is not None]
    if known and len(known) < len(columns):
        raise DynamicsError(f'{path} has the {quantity} of {len(known)} of {len(columns)} joints; '
                            'expected all or none')
    return np.column_stack(known) if known else None


def _of_message(path: str | os.PathLike, text: str) -> TimedPoints:
    try:
        message: Any = load_yaml(text, MAX_VALUES, first=True)
    except DynamicsError as error:
        raise DynamicsError(f'{path} is not valid YAML: {error}') from error
    try:
        names, points = tuple(message['joint_names']), list(message['points'])
        times = np.array([_seconds(point['time_from_start']) for point in points])
        positions, velocities, accelerations = (
            _column(points, field, len(names))
            for field in ('positions', 'velocities', 'accelerations'))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DynamicsError(
            f'{path} is not a trajectory_msgs/JointTrajectory: {type(error).__name__} {error}; '
            'expected joint_names and points with positions, velocities or none, accelerations or '
            'none, and time_from_start with sec and nanosec') from error
    if not names or not all(isinstance(name, str) for name in names) or positions is None:
        raise DynamicsError(f'{path} names no joints or has no positions')
    return TimedPoints(names, times, positions, velocities, accelerations)


def _seconds(duration: Mapping[str, int]) -> float:
    return float(duration.get('sec', 0)) + 1e-9 * float(duration.get('nanosec', 0))


def _column(points: Sequence[Mapping[str, Any]], field: str, n: int) -> np.ndarray | None:
    """Return one quantity of all points, (points, n), or None if no point has it."""
    rows = [list(map(float, point.get(field) or ())) for point in points]
    if not any(rows):
        return None
    for k, row in enumerate(rows):
        if len(row) != n:
            raise ValueError(f'points[{k}].{field} has {len(row)} numbers for {n} joints')
    return np.array(rows)


# Write ----------------------------------------------------------------------------------------

def sample_trajectory(trajectory: Fourier, rate: float = 50.0, periods: int = 1
                      ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (time, q, v, a) of a Fourier motion, both ends included, (N,) and (N, nv) each.

    :param rate: samples per second, rounded to a whole number per period.
    """
    if not isinstance(periods, int) or periods < 1:
        raise DynamicsError(f'periods is {periods!r}; expected a whole number, 1 or more')
    n = max(1, round(positive('rate', rate) * trajectory.period)) * periods
    time = np.arange(n + 1) * (trajectory.period * periods / n)
    return time, *trajectory.sample(time)


def trajectory_yaml(trajectory: Fourier, rate: float = 50.0, periods: int = 1) -> str:
    """Return the text of a trajectory_msgs/JointTrajectory."""
    time, *motion = sample_trajectory(trajectory, rate, periods)
    lines = [f'joint_names: [{", ".join(map(_quoted, trajectory.joint_names))}]', 'points:']
    for t, *rows in zip(time, *motion):
        sec, nanosec = divmod(round(t * 1e9), 1_000_000_000)
        for key, row in zip(('- positions', '  velocities', '  accelerations'), rows):
            numbers = np.round(row, DIGITS) + 0.0   # no minus before a zero
            lines.append(f'{key}: [{", ".join(f"{x:.{DIGITS}f}" for x in numbers)}]')
        lines.append(f'  time_from_start: {{sec: {sec}, nanosec: {nanosec}}}')
    return '\n'.join(lines) + '\n'


def write_trajectory_csv(path: str | os.PathLike, trajectory: Fourier, rate: float = 50.0,
                         periods: int = 1) -> None:
    """Write a table of time, position_<joint>, velocity_<joint>, acceleration_<joint>."""
    time, *motion = sample_trajectory(trajectory, rate, periods)
    header = ['time', *(f'{name}_{joint}' for name in ('position', 'velocity', 'acceleration')
                        for joint in trajectory.joint_names)]
    write_table(path, header, np.column_stack([time, *motion]))


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"
