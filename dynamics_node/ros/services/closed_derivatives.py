"""Fill the reply of ~/dynamics_derivatives of a closed mechanism, in independent coordinates."""

from typing import Any

import numpy as np

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.services.closed_terms import closed_request, names_of
from dynamics_node.ros.services.request_fields import (
    accelerations,
    check_reply_size,
    efforts,
    rows,
    wrenches_or_none,
)
from dynamics_node.ros.services.request_state import RequestState


def fill_closed_derivatives(state: RequestState, request: Any, response: Any) -> RequestState:
    """Fill the dynamics and their derivatives; return the state with the stamp of efforts."""
    if request.question == 'hybrid':
        raise DynamicsError("question is 'hybrid'; with closed: true it must be inverse or forward")
    fill = _inverse if request.question == 'inverse' else _forward
    return fill(closed_request(state, request, response), request, response)


def _inverse(state: RequestState, request: Any, response: Any) -> RequestState:
    state, n, (a,) = rows(state, acceleration=accelerations(state, request))
    k = len(response.coordinates)
    check_reply_size(state.caps, 'derivatives', n, k * (3 * k + 1))
    found = state.robot.closed_inverse_derivatives(
        state.q, state.v, a, coordinates=names_of(request),
        wrenches=wrenches_or_none(state, request))
    response.effort = convert.floats(found.tau)
    _fill_matrices(response, n, found.dq, found.dv, found.da)
    return state


def _forward(state: RequestState, request: Any, response: Any) -> RequestState:
    robot = state.robot
    state, tau = efforts(state, request, needed=actuated_dofs(robot.model, robot.loops.passive))
    state, n, (tau,) = rows(state, effort=tau)
    k = len(response.coordinates)
    check_reply_size(state.caps, 'derivatives', n, k * (2 * k + robot.nv + 1))
    found = robot.closed_forward_derivatives(
        state.q, state.v, tau, coordinates=names_of(request),
        wrenches=wrenches_or_none(state, request))
    response.acceleration = convert.floats(found.a)
    _fill_matrices(response, n, found.dq, found.dv, state.ordered(found.dtau))
    return state


def _fill_matrices(response: Any, n: int, *matrices: np.ndarray) -> None:
    """Fill the derivatives of n states by position, velocity and input."""
    response.by_position, response.by_velocity, response.by_input = map(convert.floats, matrices)
    response.states = n
