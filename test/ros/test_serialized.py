"""Test the reading of messages from bytes."""

import pytest
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64, String

from dynamics_node.ros.serialized import read_message


@pytest.mark.parametrize('message', [String(data='hello'), Float64(data=2.0), String()])
def test_messages_are_read(message):
    assert read_message(serialize_message(message), type(message)) == message


@pytest.mark.parametrize('encoding', [b'\0\0', b'\0\1', b'\0\6', b'\0\7'])
@pytest.mark.parametrize('padding', range(4))
def test_a_message_with_less_than_its_padding_is_refused(encoding, padding):
    """It would end the process on Kilted."""
    for size in range(8):
        with pytest.raises(ValueError, match=f'^{size} bytes are too short'):
            read_message((encoding + bytes([0, padding]) + bytes(4))[:size], String)
