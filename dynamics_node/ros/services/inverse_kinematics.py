"""Serve ~/inverse_kinematics: a configuration that brings links to their targets."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Model
from dynamics_node.msg import FrameTarget
from dynamics_node.robot import arguments
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.request_state import RequestState, fill
from dynamics_node.ros.state.measured_state import NEVER
from dynamics_node.srv import InverseKinematics
from dynamics_node.task_space.target import Target, rotation_of

# kind -> the fields of a FrameTarget that it reads
READS = {'pose': ('pose.position', 'pose.orientation', 'position_weight', 'rotation_weight'),
         'position': ('pose.position', 'position_weight'),
         'orientation': ('pose.orientation', 'rotation_weight'),
         'axis': ('axis', 'direction', 'rotation_weight'),
         'position_and_axis': ('pose.position', 'axis', 'direction', 'position_weight',
                               'rotation_weight')}
DEFAULTS = {'pose.position': (0.0, 0.0, 0.0), 'pose.orientation': (0.0, 0.0, 0.0, 1.0),
            'axis': (0.0, 0.0, 0.0), 'direction': (0.0, 0.0, 0.0),
            'position_weight': 1.0, 'rotation_weight': 1.0}
ARGUMENTS = {'pose.position': 'position', 'pose.orientation': 'orientation'}  # of Target


def inverse_kinematics(node_state: NodeState, request: InverseKinematics.Request,
                       response: InverseKinematics.Response) -> InverseKinematics.Response:
    """Fill an InverseKinematics response; an unreachable target gives success, but not solved."""
    state = _start(node_state, request)
    robot = state.robot
    if not request.targets:
        raise DynamicsError('targets is empty; expected at least one')
    targets = [_of_target(k, target_of, state, message)
               for k, message in enumerate(request.targets)]
    # Compilation takes about a second, once for each set of targets. Without a kernel, a pose that
    # a 7-axis arm cannot reach takes three seconds.
    with suppress(DynamicsError):  # compilation may be switched off
        robot.compile(wait=True, targets=targets)
    found = robot.inverse_kinematics(targets, state.q, request.tolerance, request.restarts)
    response.solved, response.reason = bool(found.success), found.reason
    response.position = convert.floats(state.ordered_position(found.q))
    response.solutions = convert.floats(np.array(
        [state.ordered_position(q) for q in found.solutions]))
    response.complete = found.complete
    response.position_errors = convert.floats(found.error[:, 0])
    response.rotation_errors = convert.floats(found.error[:, 1])
    response.iterations, response.restarts = found.iterations, found.restarts
    return state.fill_head(response)


def _start(node_state: NodeState, request: InverseKinematics.Request) -> RequestState:
    """Return the state where the search starts: as given, else as measured, else neutral.

    A target in the frame of a moving link needs the measured pose of that link: a joint that was
    never measured is then refused.
    """
    robot, measured, age_limit = node_state.robot, node_state.snapshot(), node_state.age_limit
    selection = node_state.current_robot.select_joints(request.joint_names)
    used = selection.others if request.position else np.arange(len(selection.names))
    if not any(_moves(robot.model, k, message) for k, message in enumerate(request.targets)):
        used = used[measured.stamps[used] != NEVER]
    stamp = age_limit.stamp_of(measured, used, 'position')
    default = np.where(np.isnan(measured.q), robot.neutral(), measured.q)
    q = fill('position', request.position, selection, selection.q, default)
    if selection.floating and request.position:
        arguments.check_configuration(robot.model, q, 'position')
    return RequestState(robot, node_state.current_robot.model_id, selection, q,
                        np.zeros(robot.nv), stamp, measured, age_limit, node_state.caps)


def _moves(model: Model, k: int, message: FrameTarget) -> bool:
    """Return whether a target is given in the frame of a link that the joints move."""
    frame = message.header.frame_id
    return frame != '' and _of_target(k, lambda: model.frame(frame).body >= 0)


def target_of(state: RequestState, message: FrameTarget) -> Target:
    """Return the Target of a FrameTarget, in the root frame."""
    kind = message.kind
    if kind not in READS:
        raise DynamicsError(f"kind is '{kind}'; expected one of: {', '.join(READS)}")
    values = {'pose.position': convert.xyz(message.pose.position),
              'pose.orientation': convert.xyzw(message.pose.orientation),
              'axis': convert.xyz(message.axis), 'direction': convert.xyz(message.direction),
              'position_weight': message.position_weight,
              'rotation_weight': message.rotation_weight}
    for field, value in values.items():
        if field not in READS[kind] and np.any(value != np.array(DEFAULTS[field])):
            raise DynamicsError(f"{field} is given, but a target of kind '{kind}' does not read "
                                f'it; expected only {", ".join(READS[kind])}')
    target = Target(message.frame, **{ARGUMENTS.get(field, field): values[field]
                                      for field in READS[kind]})
    state.robot.model.frame(target.frame)
    seen_from = message.header.frame_id
    return _in_root(target, state.robot.frame_pose(state.q, seen_from)) if seen_from else target


def _in_root(target: Target, pose: np.ndarray) -> Target:
    """Return the Target in the root frame of one given in a frame with this pose (4, 4)."""
    R, p = pose[:3, :3], pose[:3, 3]
    changes: dict[str, Any] = {}
    if target.position is not None:
        changes['position'] = p + R @ target.position
    if target.orientation is not None:
        changes['orientation'] = R @ rotation_of(target.orientation)
    if target.direction is not None:
        changes['direction'] = R @ target.direction
    return replace(target, **changes)


def _of_target(k: int, read: Callable, *arguments: Any) -> Any:
    """Return read(*arguments); an error message names target k."""
    try:
        return read(*arguments)
    except DynamicsError as error:
        raise DynamicsError(f'targets[{k}]: {error}') from None
