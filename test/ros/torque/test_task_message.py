"""Test that TaskReference messages are read from their bytes, or refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamics_node import DynamicsError


def test_a_message_is_read():
    from rclpy.serialization import serialize_message

    from dynamics_node.msg import TaskReference
    from dynamics_node.ros.torque.task_message import read_task
    message = TaskReference(frame='tool', stiffness=[1.0, 2.0], force_axes=[True] + [False] * 5)
    assert read_task(serialize_message(message)) == message


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data):
    from dynamics_node.ros.torque.task_message import read_task
    with suppress(DynamicsError):
        read_task(b'\0\1\0\0' + data)


def test_a_message_that_is_too_long_is_refused_before_it_is_read():
    from dynamics_node.ros.torque.task_message import LARGEST, read_task
    with pytest.raises(DynamicsError, match=f'has {LARGEST + 1} bytes; expected at most {LARGEST}'):
        read_task(bytes(LARGEST + 1))


def test_bytes_of_no_message_are_refused():
    from dynamics_node.ros.torque.task_message import read_task
    with pytest.raises(DynamicsError, match='the bytes are no TaskReference'):
        read_task(b'\0\1\0\0' + b'\xff' * 20)
