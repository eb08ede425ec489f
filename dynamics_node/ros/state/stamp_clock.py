"""Read the clock that stamps messages, a thousand times a second."""

import time

from rclpy.clock import ClockChange, JumpThreshold, ROSClock, TimeJump

AHEAD = 100_000_000  # [ns] by which a message can be ahead of /clock; more is another time


class StampClock:
    """The nanoseconds of a node's clock: simulated time where that is in use, else system time.

    rclpy takes 5 us to read its clock, four times that when its code has left the caches. It calls
    back when simulated time begins or ends, and system time can be read without it.

    Simulated time comes on a topic, and a joint state may arrive before the /clock that was
    published before it. Then the time is the stamp of the state: else the same simulation would
    give different results each time.

    :ivar simulated: whether simulated time is in use.
    """

    def __init__(self, clock: ROSClock) -> None:
        self._clock, self._newest_stamp = clock, 0
        self._jumps = clock.create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=None, on_clock_change=True),
            post_callback=self._changed)
        self.simulated = clock.ros_time_is_active

    def __call__(self) -> int:
        if not self.simulated:
            return time.time_ns()
        now = self._clock.now().nanoseconds
        return self._newest_stamp if 0 < self._newest_stamp - now <= AHEAD else now

    def close(self) -> None:
        """Remove the callback from the node's clock."""
        self._jumps.unregister()

    def note_stamp(self, stamp: int) -> None:
        """Note the stamp of a message, in simulated time [ns]."""
        self._newest_stamp = stamp

    def _changed(self, jump: TimeJump) -> None:
        self.simulated = jump.clock_change == ClockChange.ROS_TIME_ACTIVATED
