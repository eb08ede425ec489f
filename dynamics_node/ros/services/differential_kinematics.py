"""Serve ~/differential_kinematics: joint velocities for wanted motions of links, by priorities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.msg import MotionTask
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.constraint_request import check_constraints, constraints_in
from dynamics_node.ros.services.inverse_kinematics import target_of
from dynamics_node.ros.services.request_state import RequestState, request_state
from dynamics_node.srv import DifferentialKinematics
from dynamics_node.task_space.motion import FrameMotion, Tracking

PARTS = ('linear', 'angular')
# kind -> the fields of a MotionTask that only it reads
READS = {'velocity': ('frame', 'parts', 'weight'),
         'tracking': ('target', 'position_gain', 'rotation_gain')}
DEFAULT = MotionTask()


def differential_kinematics(node_state: NodeState, request: DifferentialKinematics.Request,
                            response: DifferentialKinematics.Response
                            ) -> DifferentialKinematics.Response:
    """Fill a DifferentialKinematics response."""
    state = request_state(node_state, request, moving=False)
    robot, nv = state.robot, state.robot.nv
    if not request.tasks:
        raise DynamicsError('tasks is empty; expected at least one')
    tasks = [_task(k, state, message) for k, message in enumerate(request.tasks)]
    contacts = constraints_in('constraints_yaml', request.constraints_yaml)
    check_constraints(state, robot.loops.constraints + contacts)
    weights = state.entries('joint_weights', request.joint_weights, np.ones(nv))
    if not (weights > 0.0).all():
        raise DynamicsError('joint_weights: every one must be above zero')
    v = robot.joint_velocities(
        state.q, _by_level(request.tasks, tasks), contacts, weights,
        state.entries('preferred_velocity', request.preferred_velocity, np.zeros(nv)),
        request.damping)
    response.velocity = convert.floats(state.ordered(v))
    response.twists = [convert.twist(robot.frame_twist(state.q, v, task.frame)) for task in tasks]
    return state.fill_head(response)


def _by_level(messages: Any, tasks: list[FrameMotion | Tracking]
              ) -> list[list[FrameMotion | Tracking]]:
    """Return lists of tasks by level, the highest priority first."""
    levels: dict[int, list[FrameMotion | Tracking]] = {}
    for message, task in zip(messages, tasks):
        levels.setdefault(message.level, []).append(task)
    return [levels[level] for level in sorted(levels)]


def _task(k: int, state: RequestState, message: MotionTask) -> FrameMotion | Tracking:
    """Return the task of a message; an error message names task k."""
    try:
        if message.kind not in READS:
            raise DynamicsError(f"kind is '{message.kind}'; expected one of: {', '.join(READS)}")
        if message.level < 1:
            raise DynamicsError(f'level is {message.level}; expected 1 or more')
        _refuse_unread(message)
        read: Callable = _velocity if message.kind == 'velocity' else _tracking
        return read(state, message)
    except DynamicsError as error:
        raise DynamicsError(f'tasks[{k}]: {error}') from None


def _refuse_unread(message: MotionTask) -> None:
    for kind, fields in READS.items():
        for field in fields if kind != message.kind else ():
            if getattr(message, field) != getattr(DEFAULT, field):
                raise DynamicsError(f"{field} is given, but kind '{message.kind}' does not read "
                                    f'it, only {kind}')


def _velocity(state: RequestState, message: MotionTask) -> FrameMotion:
    for part in message.parts:
        if part not in PARTS:
            raise DynamicsError(f"parts has '{part}'; expected some of: {', '.join(PARTS)}")
    state.robot.model.frame(message.frame)
    wanted = {part: convert.xyz(getattr(message.twist, part)) for part in PARTS}
    for part in set(PARTS) - set(message.parts or PARTS):
        if any(wanted.pop(part)):
            raise DynamicsError(f'twist.{part} is given, but parts leaves it out')
    return FrameMotion(message.frame, **wanted, weight=message.weight)


def _tracking(state: RequestState, message: MotionTask) -> Tracking:
    return Tracking(target_of(state, message.target), convert.xyz(message.twist.linear),
                    convert.xyz(message.twist.angular), message.position_gain,
                    message.rotation_gain)
