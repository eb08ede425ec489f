"""Serve ~/kinematics: poses, twists, accelerations, geometric and analytic Jacobians of links."""

from array import array

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import choice
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.closed_terms import closed_state, entries_of, names_of
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
    if not request.closed:
        refuse_given(request, 'coordinates', 'it is read only with closed: true')
    if not request.rotation_parameters:
        refuse_given(request, 'position_parameters', 'it is read only with rotation_parameters')
    moving = bool(request.velocity or not request.position or request.jacobian_rates
                  or request.accelerations)
    state = request_state(node_state, request, moving=moving)
    frames = list(request.frames) or list(state.robot.frame_names)
    for frame in frames:
        state.robot.model.frame(frame)  # before anything is computed
    response.frames = frames
    if request.closed:
        return _closed(state, request, response, moving).fill_head(response)
    robot, q, v, local = state.robot, state.q, state.v, request.local
    _fill_motion(state, frames, response, moving)
    if request.jacobians:
        response.jacobians = _flat(state, [robot.jacobian(q, frame, local) for frame in frames])
    if request.jacobian_rates:
        response.jacobian_rates = _flat(state, [robot.jacobian_rate(q, v, frame, local)
                                                for frame in frames])
    if request.rotation_parameters:
        analytic = _analytic_jacobians(state, request, frames)
        response.rows, response.analytic_jacobians = analytic.shape[1], _flat(state, analytic)
    if request.accelerations:
        _fill_accelerations(state, frames, accelerations(state, request), local, response)
    return state.fill_head(response)


def _closed(state: RequestState, request: Kinematics.Request, response: Kinematics.Response,
            moving: bool) -> RequestState:
    """Fill the motion of the closed mechanism; return the state with v of all joints."""
    state, closed = closed_state(state, request, response)
    frames, local = response.frames, request.local
    _fill_motion(state, frames, response, moving)
    if request.jacobians or request.jacobian_rates:
        found = [state.robot.closed_jacobian(state.q, state.v, frame, local,
                                             coordinates=names_of(request)) for frame in frames]
        if request.jacobians:
            response.jacobians = convert.floats(np.array([each.jacobian for each in found]))
        if request.jacobian_rates:
            response.jacobian_rates = convert.floats(np.array([each.rate for each in found]))
    if request.rotation_parameters:
        analytic = _analytic_jacobians(state, request, frames) @ closed.transmission
        response.rows, response.analytic_jacobians = analytic.shape[1], convert.floats(analytic)
    if request.accelerations:
        entries = entries_of(state, response)
        a = (closed.transmission @ accelerations(state, request)[entries]
             + closed.transmission_rate @ state.v[entries])
        _fill_accelerations(state, frames, a, local, response)
    return state


def _fill_motion(state: RequestState, frames: list[str], response: Kinematics.Response,
                 moving: bool) -> None:
    """Fill poses, and twists of a robot that moves."""
    robot, q, v = state.robot, state.q, state.v
    response.poses = [convert.pose(robot.frame_pose(q, frame)) for frame in frames]
    if moving:
        response.twists = [convert.twist(robot.frame_twist(q, v, frame)) for frame in frames]


def _fill_accelerations(state: RequestState, frames: list[str], a: np.ndarray, local: bool,
                        response: Kinematics.Response) -> None:
    """Fill the accelerations of links at accelerations a of all joints."""
    response.accelerations = [
        convert.accel(state.robot.frame_acceleration(state.q, state.v, a, frame, local))
        for frame in frames]


def _analytic_jacobians(state: RequestState, request: Kinematics.Request,
                        frames: list[str]) -> np.ndarray:
    """Return the analytic Jacobians of links, (frames, rows, nv)."""
    parameters = (
        choice('rotation_parameters', request.rotation_parameters, SIZES),
        choice('position_parameters', request.position_parameters or 'cartesian', POSITIONS))
    return np.array([state.robot.analytic_jacobian(state.q, frame, *parameters)
                     for frame in frames])


def _flat(state: RequestState, matrices: ArrayLike) -> array:
    return convert.floats(state.ordered(np.array(matrices)))
