"""Serve ~/inverse_dynamics, ~/forward_dynamics and ~/hybrid_dynamics of one state."""

from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.request_fields import (
    accelerations,
    efforts,
    given_accelerations,
    wrenches,
)
from dynamics_node.ros.services.request_state import request_state
from dynamics_node.srv import ForwardDynamics, HybridDynamics, InverseDynamics


def inverse_dynamics(node_state: NodeState, request: InverseDynamics.Request,
                     response: InverseDynamics.Response) -> InverseDynamics.Response:
    """Fill an InverseDynamics response."""
    state = request_state(node_state, request)
    a = accelerations(state, request)
    tau = state.robot.inverse_dynamics(state.q, state.v, a, *wrenches(state, request))
    response.effort = convert.floats(state.ordered(tau))
    return state.fill_head(response)


def forward_dynamics(node_state: NodeState, request: ForwardDynamics.Request,
                     response: ForwardDynamics.Response) -> ForwardDynamics.Response:
    """Fill a ForwardDynamics response."""
    state, tau = efforts(request_state(node_state, request), request)
    a = state.robot.forward_dynamics(state.q, state.v, tau, *wrenches(state, request))
    response.acceleration = convert.floats(state.ordered(a))
    return state.fill_head(response)


def hybrid_dynamics(node_state: NodeState, request: HybridDynamics.Request,
                    response: HybridDynamics.Response) -> HybridDynamics.Response:
    """Fill a HybridDynamics response."""
    state = request_state(node_state, request)
    given = given_accelerations(state, request)
    a = accelerations(state, request)
    state, tau = efforts(state, request, needed=~given)
    a, tau = state.robot.hybrid_dynamics(state.q, state.v, a, tau, given, *wrenches(state, request))
    response.acceleration = convert.floats(state.ordered(a))
    response.effort = convert.floats(state.ordered(tau))
    return state.fill_head(response)
