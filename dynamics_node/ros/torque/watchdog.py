"""Decide whether the loop of the torque process stands still, and what is published then.

Independent of rclpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dynamics_node.ros.torque.last_torque import LastTorque, LastTorqueReader
from dynamics_node.safety.blind_ramp import blind_ramp
from dynamics_node.safety.small_vectors import all_within

LOOK = 0.01   # [s] between two looks at the sign of life


class Ready(NamedTuple):
    """A record to the serving process: the watchdog watches."""

    realtime: str   # what was granted, see realtime.request


class Takeover(NamedTuple):
    """A record to the serving process: the watchdog publishes the last torques."""

    silence: float   # [s] that the loop stood still; 0 if the torque process ended by itself


class Watchdog:
    """Measure for how long the loop of the torque process has stood still.

    :ivar silence: [s]
    """

    def __init__(self, shared: LastTorqueReader) -> None:
        self._shared = shared
        self._life, self._looked, self.silence = -1, 0.0, 0.0

    def stands_still(self, now: float) -> bool:
        """Return whether the loop stands still for too long; call this every LOOK seconds.

        A longer pause between two looks counts as two of them: this process was stopped or got no
        processor time, and neither did the loop, perhaps.

        :param now: [s] of a steady clock.
        """
        life, before = self._shared.life, self._life
        passed, self._life, self._looked = now - self._looked, life, now
        if not self._shared.active or life != before:
            self.silence = 0.0
            return False
        self.silence += min(passed, 2.0 * LOOK)
        return self.silence > self._shared.time


def last_torques(last: LastTorque) -> list[Sequence[float]]:
    """Return the torques to publish exit_period apart, within the limits of the gate.

    The check is redundant: every torque of the ramp is within the effort limits.
    """
    rules = last.rules
    return [torque for torque in blind_ramp(last.torque, last.gravity, rules.slew, rules.settings)
            if all_within(torque, rules.effort)]
