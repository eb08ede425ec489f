"""Serve ~/batch_dynamics: the dynamics of many states in one call."""

from typing import Any

from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.batch_inputs import DYNAMICS, READERS, batch_inputs, fill_dynamics
from dynamics_node.ros.services.request_fields import check_reply_size, entry_of, rows
from dynamics_node.ros.services.request_state import RequestState, request_state
from dynamics_node.ros.services.terms import fill_terms
from dynamics_node.ros.services.unread_fields import refuse_unread
from dynamics_node.srv import BatchDynamics

BATCH_READERS = {**READERS, 'wrenches_in_root_axes': READERS['external_wrenches']}


def batch_dynamics(node_state: NodeState, request: BatchDynamics.Request,
                   response: BatchDynamics.Response) -> BatchDynamics.Response:
    """Fill a BatchDynamics response."""
    compute = entry_of(request.question, QUANTITIES)
    refuse_unread(request, BATCH_READERS)
    state = request_state(node_state, request, many=True)
    state, response.states = compute(state, request, response)
    return state.fill_head(response)


def _dynamics(state: RequestState, request: Any, response: Any) -> tuple[RequestState, int]:
    quantity = DYNAMICS[request.question]
    state, n, inputs = batch_inputs(state, request, quantity.kernel)
    fill_dynamics(state, quantity, inputs, response)
    return state, n


def _terms(state: RequestState, request: Any, response: Any) -> tuple[RequestState, int]:
    state, n, _ = rows(state)
    vectors = 4 if state.robot.springs else 3
    check_reply_size(state.caps, 'terms', n, state.robot.nv * (2 * state.robot.nv + vectors))
    fill_terms(state, response)
    response.kinetic_energy = convert.floats(state.robot.kinetic_energy(state.q, state.v))
    response.potential_energy = convert.floats(state.robot.potential_energy(state.q))
    return state, n


QUANTITIES = {**dict.fromkeys(DYNAMICS, _dynamics), 'terms': _terms}
