"""Serve ~/dynamics_derivatives and ~/linearization, of one state or many."""

from __future__ import annotations

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.batch_inputs import DYNAMICS, READERS, batch_inputs, fill_dynamics
from dynamics_node.ros.services.closed_derivatives import fill_closed_derivatives
from dynamics_node.ros.services.closed_linearization import fill_closed_linearization
from dynamics_node.ros.services.request_fields import check_reply_size, entry_of
from dynamics_node.ros.services.request_state import request_state
from dynamics_node.ros.services.unread_fields import refuse_given, refuse_unread
from dynamics_node.srv import DynamicsDerivatives, Linearization


def dynamics_derivatives(node_state: NodeState, request: DynamicsDerivatives.Request,
                         response: DynamicsDerivatives.Response) -> DynamicsDerivatives.Response:
    """Fill a DynamicsDerivatives response."""
    quantity = entry_of(request.question, DYNAMICS)
    refuse_unread(request, READERS)
    if not request.closed:
        refuse_given(request, 'coordinates', 'it is read only with closed: true')
    state = request_state(node_state, request, many=True)
    if request.closed:
        return fill_closed_derivatives(state, request, response).fill_head(response)
    state, n, inputs = batch_inputs(state, request, quantity.kernel)
    nv = state.robot.nv
    check_reply_size(state.caps, 'derivatives', n, nv * (3 * nv + len(quantity.fields)))
    fill_dynamics(state, quantity, inputs, response)
    derivatives = getattr(state.robot, f'{quantity.kernel}_derivatives')(*inputs)
    response.by_position, response.by_velocity, response.by_input = (
        convert.floats(state.ordered_matrix(matrix)) for matrix in derivatives)
    response.states = n
    return state.fill_head(response)


def linearization(node_state: NodeState, request: Linearization.Request,
                  response: Linearization.Response) -> Linearization.Response:
    """Fill a Linearization response."""
    step = _step(request.step)
    if not request.closed:
        refuse_given(request, 'coordinates', 'it is read only with closed: true')
    state = request_state(node_state, request, many=True)
    if request.closed:
        return fill_closed_linearization(state, request, response, step).fill_head(response)
    state, n, (q, v, tau, *wrenches) = batch_inputs(state, request, 'forward_dynamics')
    nv = state.robot.nv
    check_reply_size(state.caps, 'linear models', n, 2 * nv * (3 * nv + 1))
    A, B, drift = state.robot.linearize(q, v, tau, step, *wrenches)
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
