"""What time is it, on the clock that stamps messages? Asked a thousand times a second."""

import time

from rclpy.clock import ClockChange, JumpThreshold

OVERTAKING = 100_000_000  # [ns] by which a message can be ahead of /clock; more is another time


class StampClock:
    """The nanoseconds of a node's clock: simulated time where that is in use, else the system's.

    rclpy takes 5 us to say so, four times that where its code has left the caches; it tells when
    one takes the place of the other, and the system's time needs no asking.

    Simulated time comes on a topic, and a joint state may be heard before the /clock that was sent
    before it. It is as late as the state says then: else the same simulation would come out
    differently each time.

    :ivar simulated: whether it is.
    """

    def __init__(self, clock):
        self._clock, self._heard = clock, 0
        self._watch = clock.create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=None, on_clock_change=True),
            post_callback=self._changed)
        self.simulated = clock.ros_time_is_active

    def __call__(self):
        if not self.simulated:
            return time.time_ns()
        now = self._clock.now().nanoseconds
        return self._heard if 0 < self._heard - now <= OVERTAKING else now

    def close(self):
        """Let go of the node's clock, which would otherwise call back for ever."""
        self._watch.unregister()

    def hear(self, stamp):
        """Note the stamp of a message, in simulated time [ns]."""
        self._heard = stamp

    def _changed(self, jump):
        self.simulated = jump.clock_change == ClockChange.ROS_TIME_ACTIVATED
