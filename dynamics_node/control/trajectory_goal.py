"""Judge whether the joints follow a trajectory: path tolerances, goal tolerances, goal time.

The rules and error codes are those of joint_trajectory_controller in ros2_control.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dynamics_node.control.blended_spline import BlendedSpline
from dynamics_node.control.reference import Reference
from dynamics_node.control.spline import MotionSample


class GoalCode(IntEnum):
    """How a goal has ended: error_code of control_msgs/action/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class Tolerances(NamedTuple):
    """Greatest errors of the joints of a goal, (k,) each; inf where there is no tolerance."""

    path_position: np.ndarray   # on the way [rad or m]
    path_velocity: np.ndarray   # [rad/s or m/s]
    goal_position: np.ndarray   # after the end
    goal_velocity: np.ndarray
    goal_time: float = math.inf   # [s] after the end within which those of the goal must be met


class GoalOutcome(NamedTuple):
    """The end of a goal."""

    code: GoalCode
    text: str = ''


class GoalProgress(NamedTuple):
    """Motion and errors of the joints of a goal, (k,) each."""

    desired: MotionSample
    q: np.ndarray           # measured
    v: np.ndarray
    q_error: np.ndarray     # desired minus measured
    v_error: np.ndarray


class TrajectoryGoal:
    """A trajectory that is the newest motion of a reference.

    :ivar joints: indices of its joints, (k,).
    """

    def __init__(self, reference: Reference, spline: BlendedSpline, names: Sequence[str],
                 tolerances: Tolerances) -> None:
        """Take the reference that has replaced the one before.

        :param spline: `newest` of the reference.
        :param names: names of its joints, in the order of the tolerances.
        """
        self.joints = spline.joints
        self._reference, self._spline = reference, spline
        self._names, self._tolerances = names, tolerances

    def is_followed_by(self, reference: object) -> bool:
        """Return whether a reference still has the trajectory, in all its joints."""
        return isinstance(reference, Reference) and reference.has(self._spline)

    def progress(self, now: float, q: np.ndarray, v: np.ndarray) -> GoalProgress:
        """Return motion and errors at a measured state.

        :param q, v: positions and velocities of all joints, (n,).
        """
        desired, q, v = self._spline.at(now), q[self.joints], v[self.joints]
        return GoalProgress(desired, q, v, self._reference.error(self.joints, desired.q, q),
                            desired.v - v)

    def outcome(self, now: float, progress: GoalProgress) -> GoalOutcome | None:
        """Return how the goal ends now, None while it goes on.

        The end of the trajectory is where its reference is at rest: a last point with a velocity
        is followed by a stop.
        """
        limits, late = self._tolerances, now - self._spline.rest
        if late < 0.0:
            text = self._violation('path', progress, limits.path_position, limits.path_velocity)
            return GoalOutcome(GoalCode.PATH_TOLERANCE_VIOLATED, text) if text else None
        text = self._violation('goal', progress, limits.goal_position, limits.goal_velocity)
        if not text:
            return GoalOutcome(GoalCode.SUCCESSFUL)
        if late <= limits.goal_time:
            return None
        return GoalOutcome(GoalCode.GOAL_TOLERANCE_VIOLATED,
                           f'{text}, {late:.3g} s after the end of the trajectory')

    def _violation(self, which: str, progress: GoalProgress, position: np.ndarray,
                   velocity: np.ndarray) -> str:
        """Return the first joint beyond a tolerance, and by how much; '' if there is none."""
        for what, error, most in (('position', progress.q_error, position),
                                  ('velocity', progress.v_error, velocity)):
            beyond = np.abs(error) > most
            if beyond.any():
                k = int(beyond.argmax())
                return (f"joint '{self._names[k]}' has a {what} error of {error[k]:+.4g}; its "
                        f'{which} tolerance is {most[k]:g}')
        return ''
