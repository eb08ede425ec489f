"""Convert the points of a JointTrajectory to arrays, and check them."""

from __future__ import annotations

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert


def points_of(trajectory: JointTrajectory) -> tuple[np.ndarray | None, ...]:
    """Return times (N,) [s], positions, velocities, accelerations (N, joints) or None.

    :raise DynamicsError: names the field that is wrong, and what is valid.
    """
    names = trajectory.joint_names
    if not names:
        raise DynamicsError('trajectory.joint_names is empty; expected the joints that move')
    if not trajectory.points:
        raise DynamicsError('trajectory.points is empty; expected at least one')
    columns = [_column(trajectory, field, len(names))
               for field in ('positions', 'velocities', 'accelerations')]
    if columns[0] is None:
        raise DynamicsError('trajectory.points[0].positions is empty; every point needs positions')
    times = np.array([convert.nanoseconds(point.time_from_start) for point in trajectory.points])
    late = np.flatnonzero(np.diff(times) <= 0)
    if late.size:
        k = int(late[0]) + 1
        raise DynamicsError(f'trajectory.points[{k}].time_from_start is {times[k] * 1e-9:g} s, not '
                            'after the point before it')
    if times[0] < 0:
        raise DynamicsError(f'trajectory.points[0].time_from_start is {times[0] * 1e-9:g} s; '
                            'expected zero or more')
    return times * 1e-9, *columns


def _column(trajectory: JointTrajectory, field: str, n: int) -> np.ndarray | None:
    """Return one quantity of all points, (points, n), or None where no point has it."""
    rows = [getattr(point, field) for point in trajectory.points]
    if not any(len(row) for row in rows):
        return None
    for k, row in enumerate(rows):
        where = f'trajectory.points[{k}].{field}'
        if len(row) != n:
            raise DynamicsError(f'{where} has {len(row)} entries; expected {n}, one per joint of '
                                'the trajectory, at every point or at none')
        if not np.isfinite(row).all():
            raise DynamicsError(f'{where} is {list(row)}; every entry must be finite')
    return np.array(rows, dtype=float)
