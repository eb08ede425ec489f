"""Read joint trajectories from serialised messages, faster than rclpy.

rclpy needs 6 ms for 1000 points of 7 joints, in which no torque is computed. If all points have
equally many entries, NumPy reads them at once, in 0.1 ms. The bytes are CDR, little-endian:

    4 bytes of encapsulation | sec, nanosec | frame_id | joint_names | number of points | points

A point is positions | velocities | accelerations | effort | sec, nanosec. Texts, sequences and
alignment are as in joint_state_bytes.py. The first point may begin at an odd multiple of four
bytes, and then has other padding than the rest. Every later point begins where one of the same
sizes ended, so all of them have the same layout.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.convert import BILLION
from dynamics_node.ros.serialized import read_message
from dynamics_node.ros.state.joint_state_bytes import (
    CDR_LITTLE_ENDIAN,
    HEAD,
    STAMP,
    UINT,
    aligned,
)
from dynamics_node.ros.torque.joint_trajectory import (
    FIELDS,
    Column,
    TrajectoryNumbers,
    numbers_of,
)

LARGEST = 1_000_000        # bytes of a message; reading and checking more would delay a torque
LARGEST_BY_RCLPY = 50_000  # likewise of a message that only rclpy can read
MOST_NAMES = 1000          # likewise


class PointLayout(NamedTuple):
    """Places of a point in the bytes of a message."""

    sizes: tuple[int, ...]     # of positions, velocities, accelerations and effort
    counts: tuple[int, ...]    # where these sizes are
    entries: tuple[int, ...]   # where the entries begin
    time: int                  # where time_from_start is
    end: int


def read_trajectory(data: bytes) -> TrajectoryNumbers:
    """Return the numbers of the bytes of a trajectory_msgs/JointTrajectory, not checked.

    :raise DynamicsError: the message is too large, or the bytes are no such message.
    """
    check_size(data, LARGEST)
    try:
        return _regular(data)
    except DynamicsError:
        raise
    except (struct.error, ValueError):   # rclpy may be able to read it
        return _by_rclpy(data)


def check_size(data: bytes, largest: int) -> None:
    """Refuse a message with too many bytes."""
    if len(data) > largest:
        raise DynamicsError(f'the message has {len(data)} bytes; expected at most {largest}')


def _by_rclpy(data: bytes) -> TrajectoryNumbers:
    if len(data) > LARGEST_BY_RCLPY:
        raise DynamicsError('the points have different numbers of entries, or the bytes are no '
                            f'JointTrajectory: {len(data)} bytes; at most {LARGEST_BY_RCLPY} of '
                            'such a message are read')
    try:
        return numbers_of(read_message(data, JointTrajectory))
    except Exception as error:  # rclpy documents no exception for bytes that are no such message
        raise DynamicsError(f'the bytes are no JointTrajectory: {error}') from error


def _regular(data: bytes) -> TrajectoryNumbers:
    """Read a message whose points all have the same sizes.

    :raise ValueError, struct.error: it is another message, or ends too early.
    """
    if data[:2] != CDR_LITTLE_ENDIAN:
        raise ValueError('another encoding')
    seconds, nanoseconds = STAMP.unpack_from(data, 4)
    at, _ = _text(data, HEAD)
    at, names = _names(data, at)
    at = aligned(at, 4)
    count, = UINT.unpack_from(data, at)
    times, columns = _points(data, at + 4, count)
    return TrajectoryNumbers(seconds * BILLION + nanoseconds, names, times, columns)


def _points(data: bytes, at: int, count: int) -> tuple[np.ndarray, tuple[Column, ...]]:
    """Return times and columns of a number of points, of which the first is at a place."""
    if count == 0:
        return np.empty(0, np.int64), (Column(np.empty(0, np.int64), np.empty(0)),) * len(FIELDS)
    first = _point_layout(data, at)
    second = _point_layout(data, first.end) if count > 1 else first
    stride = second.end - first.end
    if first.end + (count - 1) * stride > len(data):
        raise ValueError('too short')

    def numbers(kind: str, n: int, place: int, next_place: int) -> np.ndarray:
        """Return n numbers of each point, (count, n); places are those of the first two points."""
        one = np.frombuffer(data, kind, n, place)
        others: np.ndarray = np.ndarray((count - 1, n), kind, data, next_place,
                                        (stride, one.itemsize))
        return np.vstack([one, others])

    for size, one, other in zip(first.sizes, first.counts, second.counts):
        if (numbers('<u4', 1, one, other) != size).any():
            raise ValueError('points of different sizes')
    seconds = numbers('<i4', 1, first.time, second.time)[:, 0]
    nanoseconds = numbers('<u4', 1, first.time + 4, second.time + 4)[:, 0]
    columns = [Column(np.full(count, size), numbers('<f8', size, one, other).ravel())
               for _, size, one, other in zip(FIELDS, first.sizes, first.entries, second.entries)]
    return seconds * np.int64(BILLION) + nanoseconds, tuple(columns)


def _point_layout(data: bytes, at: int) -> PointLayout:
    """Return the layout of the point at a place."""
    sizes, counts, entries = [], [], []
    for _ in range(4):
        n, = UINT.unpack_from(data, at)
        sizes.append(n)
        counts.append(at)
        at = aligned(at + 4, 8) if n else at + 4
        entries.append(at)
        at += 8 * n
    return PointLayout(tuple(sizes), tuple(counts), tuple(entries), at, at + 8)


def _names(data: bytes, at: int) -> tuple[int, list[str]]:
    at = aligned(at, 4)
    count, = UINT.unpack_from(data, at)
    if count > MOST_NAMES:
        raise DynamicsError(f'trajectory.joint_names has {count} entries; expected at most '
                            f'{MOST_NAMES}')
    at, names = at + 4, []
    for _ in range(count):
        at, name = _text(data, at)
        names.append(name)
    return at, names


def _text(data: bytes, at: int) -> tuple[int, str]:
    """Return the end of a text, and the text."""
    at = aligned(at, 4)
    length, = UINT.unpack_from(data, at)
    at += 4
    text = data[at:at + length]
    if len(text) != length or text.find(b'\0') != length - 1:
        raise ValueError('no text with one zero, its last byte')
    return at + length, text[:-1].decode()
