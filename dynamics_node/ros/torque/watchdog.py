"""Decide whether the loop of the torque process stands still, and what is published then.

Independent of rclpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from dynamics_node.control.controller import Controller
from dynamics_node.control.prediction import MOST_STEPS
from dynamics_node.errors import DynamicsError
from dynamics_node.ros.torque.last_torque import ExitRules, LastTorque, LastTorqueReader
from dynamics_node.ros.torque.predicted_state import Prediction, braking_torque
from dynamics_node.ros.torque.watchdog_kernels import WatchdogKernels
from dynamics_node.safety.records import LastValid, Measured, Proposal
from dynamics_node.safety.stop_releases import blind_stop

LOOK = 0.01      # [s] between two looks at the sign of life
MOST_STEPS_IN_NUMPY = 4   # of a prediction: 1 to 2 ms per step of an arm of 7 axes
PREDICTED_FROM = 0.25   # share of watchdog_time after which the joint state is predicted


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

    @property
    def is_near(self) -> bool:
        """Whether the loop has stood still for so long that a takeover is to be prepared."""
        return self.silence > PREDICTED_FROM * self._shared.time


class LastTorques:
    """The torques after the last one of the torque process: as the gate's without joint states.

    While the loop stands still, the joint state is predicted in small steps under the last torque,
    so that it is known when the watchdog takes over.
    """

    def __init__(self, last: LastTorque, clock: Callable[[], float],
                 kernels: WatchdogKernels | None = None) -> None:
        """Begin.

        :param clock: returns the steady time of the machine [s], as in `last`.
        :param kernels: None computes in NumPy.
        """
        self._last, self._clock = last, clock
        self._controller = last.rules.controller
        if self._controller is not None and kernels is not None:
            self._controller = kernels.used_by(self._controller)
        fast = self._controller is not None and self._controller.robot.compilation_enabled
        self._prediction = Prediction(MOST_STEPS if fast else MOST_STEPS_IN_NUMPY)

    @property
    def rules(self) -> ExitRules:
        """The rules that the torques comply with."""
        return self._last.rules

    @property
    def stamp(self) -> int:
        """Stamp of the torques [ns]."""
        return self._last.stamp

    def is_older(self, last: LastTorque) -> bool:
        """Return whether another torque was written later."""
        return self._last.written < last.written

    def predict(self) -> None:
        """Predict the joint state of this moment; call this often until the takeover."""
        with suppress(DynamicsError):   # it cannot be predicted
            self._state(self._last_valid())

    def torques(self) -> Iterator[Sequence[float]]:
        """Yield the torques to publish, in the order of publication."""
        rules = self.rules
        for release in blind_stop(rules.limits, self._last_valid(), self._last.gravity,
                                  self._proposal, self._clock):
            yield [release.numbers[place] for place in rules.places]

    def _last_valid(self) -> LastValid:
        """Return the last valid state, with its age at this moment."""
        last_valid = self._last.last_valid
        return last_valid._replace(
            seconds=last_valid.seconds + max(0.0, self._clock() - self._last.written))

    def _state(self, last_valid: LastValid) -> tuple[Controller, Measured, float]:
        """Return the controller, the predicted state and the time since the one before [s].

        :raise DynamicsError: the motion of this robot cannot be predicted.
        """
        if self._controller is None:
            raise DynamicsError('the motion of this robot cannot be predicted')
        return self._controller, *self._prediction.at(last_valid, self._controller,
                                                      self.rules.limits.joints.driven)

    def _proposal(self, last_valid: LastValid) -> Proposal | None:
        try:
            controller, state, period = self._state(last_valid)
            torque = braking_torque(controller, state, self.rules.limits.effort, period)
            return Proposal(torque, controller.holding_torque(state.q), state)
        except DynamicsError:
            return None
