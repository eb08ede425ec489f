"""Execute a goal of `~/follow_joint_trajectory` in the torque process.

The serving process has the action server, and reads and checks the goal. Here the trajectory of the
goal becomes the reference, and each measured state is compared with it, after its torque was
published. Independent of rclpy.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dynamics_node.control.trajectory_goal import GoalCode, GoalOutcome, TrajectoryGoal
from dynamics_node.ros.state.measured_state import MeasuredSnapshot
from dynamics_node.ros.torque.mode_reference import RUNNING
from dynamics_node.ros.torque.pipeline import TorquePipeline
from dynamics_node.ros.torque.records import GoalEnd, GoalFeedback, GoalRequest

REPLACED = GoalOutcome(GoalCode.INVALID_GOAL, 'a newer goal replaced this one')
OTHER_REFERENCE = GoalOutcome(GoalCode.INVALID_GOAL, 'a message on ~/reference replaced this goal')
DISABLED = GoalOutcome(GoalCode.INVALID_GOAL, 'torques were disabled')
CANCELLED = GoalOutcome(GoalCode.SUCCESSFUL, 'cancelled: the joints are stopped and held')


class GoalExecution:
    """The goal that is executed; at most one at a time."""

    def __init__(self, pipeline: TorquePipeline, send: Callable[[Any], bool],
                 steady: Callable[[], float] = time.monotonic) -> None:
        """Begin without a goal.

        :param send: sends GoalFeedback and GoalEnd to the serving process without waiting.
        :param steady: returns seconds and never goes back.
        """
        self._pipeline, self._send, self._steady = pipeline, send, steady
        self._goal: TrajectoryGoal | None = None
        self._request: Any = None   # GoalRequest of it
        self._due = 0.0             # [s], steady clock: next feedback

    def follow(self, request: GoalRequest) -> None:
        """Begin a goal; the one before it ends, and joints that only that one has are stopped.

        :raise DynamicsError: the goal is refused; the one before it goes on.
        """
        self._pipeline.follow(request.names, request.start, *request.points, held=True)
        reference: Any = self._pipeline.reference
        goal = TrajectoryGoal(reference, reference.newest, request.names, request.tolerances)
        if self._goal is not None:
            alone = np.setdiff1d(self._goal.joints, goal.joints)
            if alone.size:
                self._pipeline.change_reference(lambda old, now: old.stopped(now, alone))
            self._end(REPLACED)
        self._goal, self._request, self._due = goal, request, 0.0

    def cancel(self, number: int) -> None:
        """Stop and hold the joints of a goal, if it is still executed."""
        if self._goal is not None and self._request.number == number:
            joints = self._goal.joints
            self._pipeline.change_reference(lambda old, now: old.stopped(now, joints))
            self._end(CANCELLED, cancelled=True)

    def check_gate(self) -> None:
        """End the goal if torques no longer follow the reference."""
        gate = self._pipeline.gate
        if self._goal is not None and gate.state not in RUNNING:
            reason = gate.status().reason
            self._end(GoalOutcome(GoalCode.INVALID_GOAL, f'torques ended in a fault: {reason}')
                      if reason else DISABLED)

    def on_state(self, measured: MeasuredSnapshot) -> None:
        """Compare a measured state with the goal; send feedback, or the end."""
        goal = self._goal
        if goal is None:
            return
        if not goal.is_followed_by(self._pipeline.reference):
            self._end(OTHER_REFERENCE)
            return
        now = self._pipeline.now()
        progress = goal.progress(now, measured.q, measured.v)
        outcome = goal.outcome(now, progress)
        if outcome is not None or self._steady() >= self._due:
            self._due = self._steady() + self._request.feedback_period
            self._send(GoalFeedback(self._request.number, int(measured.stamps.max()), progress))
        if outcome is not None:
            if outcome.code is not GoalCode.SUCCESSFUL:   # the joints cannot follow: do not push
                self._pipeline.change_reference(lambda old, now: old.resting_at(measured.q, now))
            self._end(outcome)

    def _end(self, outcome: GoalOutcome, cancelled: bool = False) -> None:
        self._goal = None
        self._send(GoalEnd(self._request.number, outcome, cancelled))
