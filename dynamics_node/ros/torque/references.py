"""Create the reference that torques begin with; refuse one that the mode does not follow."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from dynamics_node.control.blended_pose_spline import BlendedPoseSpline
from dynamics_node.control.laws import TASK_SPACE
from dynamics_node.control.reference import Reference
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.parameters.torque import (
    TorqueParameters,
    pose_limits,
    posture_of,
    reference_limits,
    task_frame_of,
)
from dynamics_node.safety import State

RUNNING = (State.RAMPING_IN, State.ENABLED)


def resting_reference(robot: Robot, p: TorqueParameters, now: float, q: np.ndarray,
                      frame: str = '') -> Reference | BlendedPoseSpline:
    """Return the reference that stays at the configuration q.

    :param frame: of mode task_space; '' is torque.task_frame.
    """
    if p.mode != TASK_SPACE:
        return Reference.hold(q, now, reference_limits(robot, p))
    frame = task_frame_of(robot, p, frame)
    return BlendedPoseSpline.hold(frame, robot.frame_pose(q, frame), now, pose_limits(p),
                                  posture_of(robot, p, q))


def check_follows(mode: str, modes: Collection[str], what: str, state: State) -> None:
    """Refuse a reference that the mode does not follow, or while disabled.

    :param modes: that follow it.
    :param what: the kind of reference, for the message.
    :param state: of the gate.
    """
    if mode not in modes:
        raise DynamicsError(f"torque.mode is '{mode}', which follows no {what}; modes that do: "
                            f'{", ".join(sorted(modes))}')
    if state not in RUNNING:
        raise DynamicsError('torques are disabled: enable them first (~/enable, data: true), '
                            'then send the reference')
