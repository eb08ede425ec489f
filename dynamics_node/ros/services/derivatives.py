"""Serve ~/dynamics_derivatives and ~/linearization, of one state or many."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynamics_node.errors import DynamicsError
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
from dynamics_node.srv import DynamicsDerivatives, Linearization


def dynamics_derivatives(node_state: NodeState, request: DynamicsDerivatives.Request,
                         response: DynamicsDerivatives.Response) -> DynamicsDerivatives.Response:
    """Fill a DynamicsDerivatives response."""
    compute = entry_of(request.question, QUANTITIES)
    state, response.states, derivatives = compute(request_state(node_state, request), request,
                                                  response)
    response.by_position, response.by_velocity, response.by_input = (
        convert.floats(state.ordered_matrix(matrix)) for matrix in derivatives)
    return state.fill_head(response)


def _inverse(state: RequestState, request: Any, response: Any) -> tuple[RequestState, int, Any]:
    state, n, (a,) = rows(state, acceleration=accelerations(state, request))
    check_reply_size('derivatives', n, state.robot.nv * (3 * state.robot.nv + 1))
    inputs: Any = state.q, state.v, a, *wrenches(request)
    response.effort = convert.floats(state.ordered(state.robot.inverse_dynamics(*inputs)))
    return state, n, state.robot.inverse_dynamics_derivatives(*inputs)


def _forward(state: RequestState, request: Any, response: Any) -> tuple[RequestState, int, Any]:
    state, tau = efforts(state, request)
    state, n, (tau,) = rows(state, effort=tau)
    check_reply_size('derivatives', n, state.robot.nv * (3 * state.robot.nv + 1))
    inputs: Any = state.q, state.v, tau, *wrenches(request)
    response.acceleration = convert.floats(state.ordered(state.robot.forward_dynamics(*inputs)))
    return state, n, state.robot.forward_dynamics_derivatives(*inputs)


def _hybrid(state: RequestState, request: Any, response: Any) -> tuple[RequestState, int, Any]:
    given = given_accelerations(state, request)
    state, tau = efforts(state, request, needed=~given)
    state, n, (a, tau) = rows(state, acceleration=accelerations(state, request), effort=tau)
    check_reply_size('derivatives', n, state.robot.nv * (3 * state.robot.nv + 2))
    inputs: Any = state.q, state.v, a, tau, given, *wrenches(request)
    a, tau = state.robot.hybrid_dynamics(*inputs)
    response.acceleration = convert.floats(state.ordered(a))
    response.effort = convert.floats(state.ordered(tau))
    return state, n, state.robot.hybrid_dynamics_derivatives(*inputs)


QUANTITIES = {'inverse': _inverse, 'forward': _forward, 'hybrid': _hybrid}


def linearization(node_state: NodeState, request: Linearization.Request,
                  response: Linearization.Response) -> Linearization.Response:
    """Fill a Linearization response."""
    step = _step(request.step)
    state, tau = efforts(request_state(node_state, request), request)
    state, n, (tau,) = rows(state, effort=tau)
    nv = state.robot.nv
    check_reply_size('linear models', n, 2 * nv * (3 * nv + 1))
    A, B, drift = state.robot.linearize(state.q, state.v, tau, step, *wrenches(request))
    order = np.arange(nv) if state.selection.order is None else state.selection.order
    both = np.concatenate([order, nv + order])  # positions, velocities
    response.state_matrix = convert.floats(A[..., both[:, None], both])
    response.input_matrix = convert.floats(B[..., both[:, None], order])
    response.drift = convert.floats(drift[..., both])
    response.states = n
    return state.fill_head(response)


def _step(step: float) -> float | None:
    """Return the time step of a request [s], None for continuous time."""
    if not (np.isfinite(step) and step >= 0.0):
        raise DynamicsError(f'step is {step}; expected zero (continuous time) or a finite, '
                            'positive number of seconds')
    return step or None
