"""Fill the reply of ~/linearization of a closed mechanism, in independent coordinates."""

from typing import Any

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.ros import convert
from dynamics_node.ros.services.closed_terms import closed_coordinates, names_of
from dynamics_node.ros.services.request_fields import (
    check_reply_size,
    efforts,
    rows,
    wrenches_or_none,
)
from dynamics_node.ros.services.request_state import RequestState


def fill_closed_linearization(state: RequestState, request: Any, response: Any,
                              step: float | None) -> RequestState:
    """Fill A, B and the drift of one state or many; return the state with the efforts' stamp."""
    robot = state.robot
    response.coordinates = closed_coordinates(robot, request)
    actuated = actuated_dofs(robot.model, robot.loops.passive)
    state, tau = efforts(state, request, needed=actuated)
    state, n, (tau,) = rows(state, effort=tau)
    size = 2 * len(response.coordinates)
    check_reply_size(state.caps, 'linear models', n, size * (size + robot.nv + 1))
    A, B, drift = robot.closed_linearization(state.q, state.v, tau, step,
                                             coordinates=names_of(request),
                                             wrenches=wrenches_or_none(state, request))
    response.state_matrix = convert.floats(A)
    response.input_matrix = convert.floats(state.ordered(B))
    response.drift = convert.floats(drift)
    response.states = n
    return state
