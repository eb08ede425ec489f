"""Test that joint states read from bytes are those that rclpy reads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = st.lists(st.floats(width=64), max_size=4)
NAMES = st.lists(st.text(st.characters(codec='utf-8', exclude_characters='\0'), max_size=9),
                 max_size=4)


@st.composite
def joint_states(draw):
    from sensor_msgs.msg import JointState
    message = JointState(name=draw(NAMES), position=draw(NUMBERS), velocity=draw(NUMBERS),
                         effort=draw(NUMBERS))
    message.header.stamp.sec = draw(st.integers(-2 ** 31, 2 ** 31 - 1))
    message.header.stamp.nanosec = draw(st.integers(0, 999_999_999))
    message.header.frame_id = draw(st.sampled_from(['', 'base', 'base_link']))
    return message


def same(reading, message):
    stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
    assert reading.stamp == stamp
    assert list(reading.names) == list(message.name)
    for field in ('position', 'velocity', 'effort'):
        np.testing.assert_array_equal(getattr(reading, field), np.array(getattr(message, field)))


@given(st.lists(joint_states(), min_size=1, max_size=6))
def test_every_message_reads_as_rclpy_reads_it(messages):
    """After any other message: one reader for all of them, each of them twice."""
    from rclpy.serialization import serialize_message

    from dynamics_node.ros.state.joint_state_bytes import JointStateReader
    reader = JointStateReader()
    for message in [*messages, *messages]:
        same(reader.read(serialize_message(message)), message)


def test_padding_does_not_count():
    """Bytes between the names are not initialised; the layout is recognised all the same."""
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState

    from dynamics_node.ros.state.joint_state_bytes import JointStateReader, layout_of
    message = JointState(name=['a', 'bc'], position=[1.0, 2.0])
    data = bytearray(serialize_message(message))
    layout = layout_of(bytes(data))
    padding = [k for k in range(12, layout.head_end)
               if not (layout.mask >> 8 * (k - 12)) & 0xff]
    assert padding
    for k in padding:
        data[k] = 0xab
    assert layout.read(bytes(data)) is not None
    same(JointStateReader().read(bytes(data)), message)


def test_messages_of_equal_length_are_told_apart():
    """As many bytes, but the numbers are efforts, or the names are others."""
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState

    from dynamics_node.ros.state.joint_state_bytes import JointStateReader
    reader = JointStateReader()
    messages = [JointState(name=['a', 'b'], position=[1.0, 2.0], velocity=[3.0, 4.0]),
                JointState(name=['a', 'b'], position=[1.0, 2.0], effort=[3.0, 4.0]),
                JointState(name=['a', 'c'], position=[1.0, 2.0], velocity=[3.0, 4.0])]
    assert len({len(serialize_message(message)) for message in messages}) == 1
    for message in [*messages, *reversed(messages)]:
        same(reader.read(serialize_message(message)), message)


@pytest.mark.parametrize('cut', [0, 3, 4, 11, 12, 17, 30])
def test_truncated_messages_are_left_to_rclpy(cut):
    """They match no known layout."""
    import struct

    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState

    from dynamics_node.ros.state.joint_state_bytes import layout_of
    data = serialize_message(JointState(name=['joint'], position=[1.0]))
    with pytest.raises((struct.error, ValueError)):
        layout_of(data[:cut])


def test_a_message_that_is_too_long_is_refused_before_it_is_read():
    """Reading 300,000 names would take half a second, in which no torque is computed."""
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState

    from dynamics_node.ros.state.joint_state_bytes import LARGEST, JointStateReader
    data = serialize_message(JointState(name=['joint'] * LARGEST))
    with pytest.raises(ValueError, match=f'at most {LARGEST} are read'):
        JointStateReader().read(data)


def test_stored_layouts_take_limited_memory(monkeypatch):
    """A publisher that never sends the same names makes the reader forget, not grow."""
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState

    from dynamics_node.ros.state import joint_state_bytes
    monkeypatch.setattr(joint_state_bytes, 'MOST_LAYOUT_BYTES', 10_000)
    reader = joint_state_bytes.JointStateReader()
    for k in range(100):
        message = JointState(name=['x' * k], position=[0.5])
        assert reader.read(serialize_message(message)).names == ('x' * k,)
        assert sum(reader._layouts) <= 10_000
    assert len(reader._layouts) > 1
