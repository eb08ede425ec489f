"""Test that joint trajectories read from bytes are those that rclpy reads, or are refused."""

import tracemalloc
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.trajectories import trajectory

from dynamics_node import DynamicsError

ENTRIES = ('positions', 'velocities', 'accelerations', 'effort')
TEXTS = st.text(st.characters(codec='utf-8', exclude_characters='\0'), max_size=9)
SIZES = st.tuples(*[st.integers(0, 3)] * 4)


@st.composite
def trajectories(draw, regular=True):
    """Return a JointTrajectory; if regular, all points have the same sizes."""
    from builtin_interfaces.msg import Duration
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
    count, sizes = draw(st.integers(0, 5)), draw(SIZES)
    points = []
    for _ in range(count):
        sizes = sizes if regular else draw(SIZES)
        points.append(JointTrajectoryPoint(
            time_from_start=Duration(sec=draw(st.integers(-2 ** 31, 2 ** 31 - 1)),
                                     nanosec=draw(st.integers(0, 2 ** 32 - 1))),
            **{field: draw(st.lists(st.floats(width=64), min_size=size, max_size=size))
               for field, size in zip(ENTRIES, sizes)}))
    message = JointTrajectory(joint_names=draw(st.lists(TEXTS, max_size=4)), points=points)
    message.header.stamp.sec = draw(st.integers(-2 ** 31, 2 ** 31 - 1))
    message.header.stamp.nanosec = draw(st.integers(0, 2 ** 32 - 1))
    message.header.frame_id = draw(TEXTS)
    return message


def serialised(message):
    from rclpy.serialization import serialize_message
    return serialize_message(message)


def check_same(numbers, message):
    """Compare with the fields of a message, one by one."""
    stamp = message.header.stamp
    assert numbers.stamp == stamp.sec * 10**9 + stamp.nanosec
    assert numbers.names == message.joint_names
    assert numbers.times.tolist() == [point.time_from_start.sec * 10**9
                                      + point.time_from_start.nanosec for point in message.points]
    for field, (sizes, entries) in zip(ENTRIES[:3], numbers.columns, strict=True):
        rows = [getattr(point, field) for point in message.points]
        assert sizes.tolist() == [len(row) for row in rows]
        np.testing.assert_array_equal(entries, [x for row in rows for x in row])


@given(trajectories())
def test_regular_messages_are_read_without_rclpy(message):
    from dynamics_node.ros.torque.joint_trajectory_bytes import _regular
    check_same(_regular(serialised(message)), message)


@given(trajectories(regular=False))
def test_points_of_different_sizes_are_read_too(message):
    from dynamics_node.ros.torque.joint_trajectory_bytes import read_trajectory
    check_same(read_trajectory(serialised(message)), message)


@given(trajectories(regular=False), st.data())
@settings(max_examples=300)
def test_changed_bytes_are_read_as_rclpy_reads_them_or_refused(message, data):
    """Cut anywhere, single bytes changed, numbers of entries forged."""
    from rclpy.serialization import deserialize_message
    from trajectory_msgs.msg import JointTrajectory

    from dynamics_node.ros.torque.joint_trajectory_bytes import read_trajectory
    changed = bytearray(serialised(message))
    for place in data.draw(st.lists(st.integers(0, len(changed) - 1), max_size=3)):
        changed[place] = data.draw(st.integers(0, 255))
    changed = bytes(changed[:data.draw(st.integers(0, len(changed)))])
    try:
        numbers = read_trajectory(changed)
    except DynamicsError:
        return
    check_same(numbers, deserialize_message(changed, JointTrajectory))


@given(st.binary(max_size=200))
@settings(max_examples=300)
def test_any_bytes_are_read_or_refused(data):
    from dynamics_node.ros.torque.joint_trajectory_bytes import read_trajectory
    for head in (b'', b'\0\1\0\0'):
        with suppress(DynamicsError):
            read_trajectory(head + data)


def bytes_of(count, joints=2):
    """Return the bytes of a valid trajectory."""
    rows = np.arange(count * joints, dtype=float).reshape(count, joints)
    return serialised(trajectory(['joint'] * joints, 0.1 * np.arange(count), positions=rows,
                                 velocities=rows))


@pytest.mark.parametrize('forged', [3, 1000, 2**31 - 1, 2**32 - 1])
def test_a_forged_number_allocates_no_memory(forged):
    """Every number of the message in turn: of names, of points, of entries, of characters."""
    from dynamics_node.ros.torque.joint_trajectory_bytes import read_trajectory
    valid = bytes_of(2)
    for place in range(4, len(valid) - 3, 4):
        changed = valid[:place] + forged.to_bytes(4, 'little') + valid[place + 4:]
        tracemalloc.start()
        with suppress(DynamicsError):
            read_trajectory(changed)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1_000_000


def test_a_message_that_is_too_long_is_refused_before_it_is_read():
    from dynamics_node.ros.torque.joint_trajectory_bytes import LARGEST, read_trajectory
    with pytest.raises(DynamicsError, match=f'has {LARGEST + 1} bytes; expected at most {LARGEST}'):
        read_trajectory(bytes(LARGEST + 1))


def test_a_long_message_that_only_rclpy_can_read_is_refused():
    """The same points are read as long as all have the same sizes."""
    from dynamics_node.ros.torque.joint_trajectory_bytes import LARGEST_BY_RCLPY, read_trajectory
    rows = [[1.0, 2.0]] * 2000
    regular = serialised(trajectory(['a', 'b'], range(2000), positions=rows))
    assert len(read_trajectory(regular).times) == 2000
    other = serialised(trajectory(['a', 'b'], range(2000), positions=[*rows[1:], [1.0]]))
    with pytest.raises(DynamicsError, match=f'at most {LARGEST_BY_RCLPY} of such a message'):
        read_trajectory(other)


def test_thousands_of_names_are_refused():
    """Reading them would take as long as many points."""
    from dynamics_node.ros.torque.joint_trajectory_bytes import MOST_NAMES, read_trajectory
    with pytest.raises(DynamicsError, match=f'joint_names has {MOST_NAMES + 1} entries; expected '
                                            f'at most {MOST_NAMES}'):
        read_trajectory(bytes_of(1, MOST_NAMES + 1))
