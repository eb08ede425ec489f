"""What time is it, on the clock that stamps messages? Asked a thousand times a second."""

import time

from rclpy.clock import ClockChange, JumpThreshold


class StampClock:
    """The nanoseconds of a node's clock: simulated time where that is in use, else the system's.

    rclpy takes 5 us to say so, four times that where its code has left the caches; it tells when
    one takes the place of the other, and the system's time needs no asking.
    """

    def __init__(self, clock):
        self._clock = clock
        self._watch = clock.create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=None, on_clock_change=True),
            post_callback=self._changed)
        self._simulated = clock.ros_time_is_active

    def __call__(self):
        return self._clock.now().nanoseconds if self._simulated else time.time_ns()

    def _changed(self, jump):
        self._simulated = jump.clock_change == ClockChange.ROS_TIME_ACTIVATED
