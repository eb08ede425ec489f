"""Serve ~/kinematics: poses, twists, accelerations, geometric and analytic Jacobians of links."""

from array import array

import numpy as np

from dynamics_node.checks import choice
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.request_fields import accelerations
from dynamics_node.ros.services.request_state import RequestState, request_state
from dynamics_node.ros.services.unread_fields import refuse_given
from dynamics_node.spatial.positions import POSITIONS
from dynamics_node.spatial.rotations import SIZES
from dynamics_node.srv import Kinematics


def kinematics(node_state: NodeState, request: Kinematics.Request,
               response: Kinematics.Response) -> Kinematics.Response:
    """Fill a Kinematics response."""
    if not (request.jacobians or request.jacobian_rates or request.accelerations):
        refuse_given(request, 'local', 'it is read only with Jacobians, their rates or '
                                       'accelerations')
    if not request.accelerations:
        refuse_given(request, 'acceleration', 'it is read only with accelerations')
    if not request.rotation_parameters:
        refuse_given(request, 'position_parameters', 'it is read only with rotation_parameters')
    moving = bool(request.velocity or not request.position or request.jacobian_rates
                  or request.accelerations)
    state = request_state(node_state, request, moving=moving)
    robot, q, v, local = state.robot, state.q, state.v, request.local
    frames = list(request.frames) or list(robot.frame_names)
    for frame in frames:
        robot.model.frame(frame)  # before anything is computed
    response.frames = frames
    response.poses = [convert.pose(robot.frame_pose(q, frame)) for frame in frames]
    if moving:
        response.twists = [convert.twist(robot.frame_twist(q, v, frame)) for frame in frames]
    if request.jacobians:
        response.jacobians = _flat(state, [robot.jacobian(q, frame, local) for frame in frames])
    if request.jacobian_rates:
        response.jacobian_rates = _flat(state, [robot.jacobian_rate(q, v, frame, local)
                                               for frame in frames])
    if request.rotation_parameters:
        analytic = [robot.analytic_jacobian(q, frame, *_parameters(request)) for frame in frames]
        response.rows, response.analytic_jacobians = len(analytic[0]), _flat(state, analytic)
    if request.accelerations:
        a = accelerations(state, request)
        response.accelerations = [convert.accel(robot.frame_acceleration(q, v, a, frame, local))
                                  for frame in frames]
    return state.fill_head(response)


def _parameters(request: Kinematics.Request) -> tuple[str, str]:
    """Return the kinds of parameters of the analytic Jacobians: of rotation and of position."""
    return (choice('rotation_parameters', request.rotation_parameters, SIZES),
            choice('position_parameters', request.position_parameters or 'cartesian', POSITIONS))


def _flat(state: RequestState, matrices: list[np.ndarray]) -> array:
    return convert.floats(state.ordered(np.array(matrices)))
