"""Make the reference that a mode begins with: at rest, or in the motion that is measured.

Refuse references that the mode does not follow. Independent of rclpy.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from dynamics_node.control.blended_pose_spline import BlendedPoseSpline
from dynamics_node.control.controller import Controller
from dynamics_node.control.laws import TASK_SPACE, WITH_REFERENCE
from dynamics_node.control.reference import Reference
from dynamics_node.control.whole_body_controller import WHOLE_BODY, WholeBodyController
from dynamics_node.control.whole_body_reference import WholeBodyReference, standing_reference
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.parameters.torque import (
    TorqueParameters,
    controllers_of,
    pose_limits,
    posture_of,
    reference_limits,
    task_frame_of,
    whole_body_effort,
)
from dynamics_node.safety import State

RUNNING = (State.RAMPING_IN, State.ENABLED)


def holding_reference(robot: Robot, p: TorqueParameters, q: np.ndarray, now: float,
                      frame: str = '') -> Reference | BlendedPoseSpline | WholeBodyReference:
    """Return the reference that stays at the configuration q.

    :param frame: frame of mode task_space; '' is torque.task_frame.
    """
    if p.mode == WHOLE_BODY:
        return standing_reference(robot, q, whole_body_effort(robot, p), p.whole_body_stiffness,
                                  now)
    if p.mode != TASK_SPACE:
        return Reference.hold(q, now, reference_limits(robot, p))
    frame = task_frame_of(robot, p, frame)
    return BlendedPoseSpline.hold(frame, robot.frame_pose(q, frame), now, pose_limits(p),
                                  posture_of(robot, p, q))


def next_reference(reference: Any, before: str, robot: Robot, p: TorqueParameters, q: np.ndarray,
                   v: np.ndarray, now: float) -> Any:
    """Return the reference with which mode p.mode takes over from another one, without a jump.

    If both modes have a joint reference, it is kept. Otherwise the new reference begins with the
    measured motion and comes to rest within blend_time; in mode whole_body it holds the measured
    configuration.

    :param reference: reference of the mode before; None if it has none.
    :param before: the mode before.
    """
    if p.mode == before or p.mode == 'gravity' or {p.mode, before} <= WITH_REFERENCE:
        return reference
    if p.mode == WHOLE_BODY:
        return holding_reference(robot, p, q, now)
    if p.mode != TASK_SPACE:
        return Reference.stop(q, v, now, reference_limits(robot, p))
    frame = task_frame_of(robot, p, '')
    return BlendedPoseSpline.stop(frame, robot.frame_pose(q, frame), robot.jacobian(q, frame) @ v,
                                  now, pose_limits(p), posture_of(robot, p, q))


def controllers_for(robots: Sequence[Robot], p: TorqueParameters, reference: Any
                    ) -> list[Controller]:
    """Return the Controllers of robots; in mode whole_body on the contacts of the reference.

    :param reference: that is followed; None if there is none: all contacts.
    """
    controllers = controllers_of(robots, p)
    if not isinstance(reference, WholeBodyReference):
        return controllers
    return [each.on_contacts(reference.contacts) if isinstance(each, WholeBodyController) else each
            for each in controllers]


def check_follows(p: TorqueParameters, modes: Set[str], what: str, state: State) -> None:
    """Refuse a reference that the mode does not follow, or while torques are disabled.

    :param modes: that follow such a reference.
    :param what: the kind of reference.
    :param state: state of the gate.
    """
    if p.mode not in modes:
        raise DynamicsError(f"torque.mode is '{p.mode}', which follows no {what}; modes that do: "
                            f'{", ".join(sorted(modes))}')
    if state not in RUNNING:
        raise DynamicsError('torques are disabled: enable them first (~/enable, data: true), then '
                            'send the reference')
