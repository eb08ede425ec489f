"""Test the time of stamps: system time, or simulated time while it is in use."""

import time

import pytest

pytest.importorskip('rclpy')
SECOND = 1_000_000_000


@pytest.fixture
def ros_clock():
    from rclpy.clock import ROSClock
    return ROSClock()


def test_system_time_is_used_unless_simulated(ros_clock):
    """In both directions, after any number of changes."""
    from rclpy.time import Time

    from dynamics_node.ros.state.stamp_clock import StampClock
    now = StampClock(ros_clock)
    for simulated in (5, 7):
        before = time.time_ns()
        assert before <= now() <= time.time_ns()
        ros_clock._set_ros_time_is_active(True)
        ros_clock.set_ros_time_override(Time(seconds=simulated, clock_type=ros_clock.clock_type))
        assert now() == simulated * SECOND == ros_clock.now().nanoseconds
        ros_clock._set_ros_time_is_active(False)


def test_simulated_from_the_beginning(ros_clock):
    from rclpy.time import Time

    from dynamics_node.ros.state.stamp_clock import StampClock
    ros_clock._set_ros_time_is_active(True)
    now = StampClock(ros_clock)
    ros_clock.set_ros_time_override(Time(seconds=3, clock_type=ros_clock.clock_type))
    assert now() == 3 * SECOND


def test_a_stamp_slightly_ahead_of_the_clock_advances_it(ros_clock):
    """Up to a limit; other stamps do not."""
    from rclpy.time import Time

    from dynamics_node.ros.state.stamp_clock import AHEAD, StampClock
    ros_clock._set_ros_time_is_active(True)
    now = StampClock(ros_clock)
    ros_clock.set_ros_time_override(Time(seconds=3, clock_type=ros_clock.clock_type))
    for ahead, seen in (-1, 0), (4_000_000, 4_000_000), (AHEAD + 1, 0), (60 * SECOND, 0):
        now.note_stamp(3 * SECOND + ahead)
        assert now() == 3 * SECOND + seen
    now.note_stamp(3 * SECOND + 4_000_000)
    ros_clock.set_ros_time_override(Time(nanoseconds=3 * SECOND + 8_000_000,
                                         clock_type=ros_clock.clock_type))
    assert now() == 3 * SECOND + 8_000_000
