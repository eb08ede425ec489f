"""Test commands as bytes: rclpy reads the same message from them."""

import struct

import pytest

pytest.importorskip('rclpy')

from rclpy.serialization import deserialize_message  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402

from dynamics_node.ros.torque.command_bytes import command_writer  # noqa: E402


@pytest.mark.parametrize('size', [0, 1, 2, 7, 30])
def test_rclpy_reads_the_numbers(size):
    numbers = [0.1 * k - 3.0 for k in range(size)]
    data = command_writer(size)(numbers)
    assert deserialize_message(data, Float64MultiArray) == Float64MultiArray(data=numbers)


def test_another_number_of_joints_is_refused():
    with pytest.raises(struct.error):
        command_writer(7)([0.0] * 6)
