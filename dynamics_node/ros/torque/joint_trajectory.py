"""Convert the points of a JointTrajectory to arrays, and check them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert

FIELDS = ('positions', 'velocities', 'accelerations')


class Column(NamedTuple):
    """One field of all points, not checked."""

    sizes: np.ndarray    # number of entries of each point, (N,)
    entries: np.ndarray  # those of the first point, then of the second ...


class TrajectoryNumbers(NamedTuple):
    """The content of a JointTrajectory, not checked."""

    stamp: int                    # [ns], 0 where it has none
    names: list[str]
    times: np.ndarray             # time_from_start, (N,) int64 [ns]
    columns: tuple[Column, ...]   # one for each of FIELDS


def points_of(trajectory: JointTrajectory) -> tuple[np.ndarray | None, ...]:
    """Return times (N,) [s], positions, velocities, accelerations (N, joints) or None.

    :raise DynamicsError: names the field that is wrong, and what is valid.
    """
    return checked_points(numbers_of(trajectory))


def numbers_of(trajectory: JointTrajectory) -> TrajectoryNumbers:
    """Return the numbers of a message."""
    points = trajectory.points
    times = np.fromiter((convert.nanoseconds(point.time_from_start) for point in points),
                        np.int64, len(points))
    columns = []
    for field in FIELDS:
        rows = [getattr(point, field) for point in points]   # array('d') each
        columns.append(Column(np.fromiter(map(len, rows), np.int64, len(rows)),
                              np.frombuffer(b''.join(rows))))
    return TrajectoryNumbers(convert.nanoseconds(trajectory.header.stamp), trajectory.joint_names,
                             times, tuple(columns))


def checked_points(trajectory: TrajectoryNumbers) -> tuple[np.ndarray | None, ...]:
    """Return the result of points_of."""
    _, names, times, columns = trajectory
    if not names:
        raise DynamicsError('trajectory.joint_names is empty; expected the joints that move')
    if not len(times):
        raise DynamicsError('trajectory.points is empty; expected at least one')
    positions, *others = (_checked(field, column, len(names))
                          for field, column in zip(FIELDS, columns))
    if positions is None:
        raise DynamicsError('trajectory.points[0].positions is empty; every point needs positions')
    late = np.flatnonzero(np.diff(times) <= 0)
    if late.size:
        k = int(late[0]) + 1
        raise DynamicsError(f'trajectory.points[{k}].time_from_start is {times[k] * 1e-9:g} s, not '
                            'after the point before it')
    if times[0] < 0:
        raise DynamicsError(f'trajectory.points[0].time_from_start is {times[0] * 1e-9:g} s; '
                            'expected zero or more')
    return times * 1e-9, positions, *others


def _checked(field: str, column: Column, n: int) -> np.ndarray | None:
    """Return one field of all points, (points, n), or None where no point has it."""
    sizes, entries = column
    if not entries.size:
        return None
    other = np.flatnonzero(sizes != n)
    regular = int(other[0]) if other.size else len(sizes)   # points before the first of other size
    rows = entries[:regular * n].reshape(regular, n)
    if not np.isfinite(rows).all():
        k = int(np.argwhere(~np.isfinite(rows))[0, 0])
        raise DynamicsError(f'trajectory.points[{k}].{field} is {rows[k].tolist()}; every entry '
                            'must be finite')
    if other.size:
        raise DynamicsError(f'trajectory.points[{regular}].{field} has {sizes[regular]} entries; '
                            f'expected {n}, one per joint of the trajectory, at every point or at '
                            'none')
    return rows
