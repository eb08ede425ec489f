"""Serve ~/batch_dynamics: the dynamics of many states in one call."""

from typing import Any

from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.request_fields import (
    accelerations,
    check_reply_size,
    efforts,
    entry_of,
    given_accelerations,
    rows,
    wrenches,
)
from dynamics_node.ros.services.request_state import RequestState, request_state
from dynamics_node.ros.services.terms import fill_terms
from dynamics_node.srv import BatchDynamics


def batch_dynamics(node_state: NodeState, request: BatchDynamics.Request,
                   response: BatchDynamics.Response) -> BatchDynamics.Response:
    """Fill a BatchDynamics response."""
    compute = entry_of(request.question, QUANTITIES)
    state, response.states = compute(request_state(node_state, request), request, response)
    return state.fill_head(response)


def _inverse(state: RequestState, request: Any, response: Any) -> tuple[RequestState, int]:
    state, n, (a,) = rows(state, acceleration=accelerations(state, request))
    tau = state.robot.inverse_dynamics(state.q, state.v, a, *wrenches(request))
    response.effort = convert.floats(state.ordered(tau))
    return state, n


def _forward(state: RequestState, request: Any, response: Any) -> tuple[RequestState, int]:
    state, tau = efforts(state, request)
    state, n, (tau,) = rows(state, effort=tau)
    a = state.robot.forward_dynamics(state.q, state.v, tau, *wrenches(request))
    response.acceleration = convert.floats(state.ordered(a))
    return state, n


def _hybrid(state: RequestState, request: Any, response: Any) -> tuple[RequestState, int]:
    given = given_accelerations(state, request)
    state, tau = efforts(state, request, needed=~given)
    state, n, (a, tau) = rows(state, acceleration=accelerations(state, request), effort=tau)
    a, tau = state.robot.hybrid_dynamics(state.q, state.v, a, tau, given, *wrenches(request))
    response.acceleration = convert.floats(state.ordered(a))
    response.effort = convert.floats(state.ordered(tau))
    return state, n


def _terms(state: RequestState, request: Any, response: Any) -> tuple[RequestState, int]:
    state, n, _ = rows(state)
    check_reply_size('terms', n, state.robot.nv * (2 * state.robot.nv + 3))
    fill_terms(state, response)
    response.kinetic_energy = convert.floats(state.robot.kinetic_energy(state.q, state.v))
    response.potential_energy = convert.floats(state.robot.potential_energy(state.q))
    return state, n


QUANTITIES = {'inverse': _inverse, 'forward': _forward, 'hybrid': _hybrid, 'terms': _terms}
