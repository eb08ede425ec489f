"""Decide whether the loop of the torque process stands still, and what is published then.

Independent of rclpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.torque.last_torque import LastTorque, LastTorqueReader
from dynamics_node.ros.torque.predicted_state import Prediction, braking_torque
from dynamics_node.safety.records import LastValid, Proposal
from dynamics_node.safety.stopping import blind_stop

LOOK = 0.01      # [s] between two looks at the sign of life
MOST_STEPS = 4   # of a prediction: it is computed in NumPy, 2 ms per step of an arm of 7 axes


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


def last_torques(last: LastTorque, silence: float,
                 clock: Callable[[], float]) -> Iterator[Sequence[float]]:
    """Yield the torques to publish, in the order of publication: as the gate ends without states.

    :param silence: time since the torque was published, as far as it is known [s].
    :param clock: returns a steady time [s].
    """
    rules, prediction = last.rules, Prediction(MOST_STEPS)

    def predict(last_valid: LastValid) -> Proposal | None:
        if rules.controller is None:
            return None
        try:
            state, period = prediction.at(last_valid, rules.controller, rules.limits.joints.driven)
            torque = braking_torque(rules.controller, state, rules.limits.effort, period)
            return Proposal(torque, rules.controller.holding_torque(state.q), state)
        except DynamicsError:
            return None
    last_valid = last.last_valid._replace(seconds=last.last_valid.seconds + silence)
    for release in blind_stop(rules.limits, last_valid, last.gravity, predict, clock):
        yield [release.numbers[place] for place in rules.places]
