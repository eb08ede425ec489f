"""Serve ~/derivative_terms: regressor, dM/dq, Christoffel symbols, dg/dq, Hessian products."""

from __future__ import annotations

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.request_fields import accelerations, check_reply_size, rows
from dynamics_node.ros.services.request_state import RequestState, request_state
from dynamics_node.ros.services.unread_fields import refuse_given
from dynamics_node.srv import DerivativeTerms

TENSORS = ('mass_matrix_derivatives', 'christoffel_symbols')   # of three indices
OF_MOTION = ('regressor', 'weights')   # read velocity and acceleration too
REQUESTS = (*TENSORS, 'gravity_stiffness', *OF_MOTION)
DIRECTION = ('position', 'velocity', 'acceleration')


def derivative_terms(node_state: NodeState, request: DerivativeTerms.Request,
                     response: DerivativeTerms.Response) -> DerivativeTerms.Response:
    """Fill a DerivativeTerms response with what is requested."""
    _check(request)
    moving = bool(request.velocity or any(getattr(request, name) for name in OF_MOTION))
    state = request_state(node_state, request, many=True, moving=moving)
    state, n, (a,) = rows(state, acceleration=accelerations(state, request))
    check_reply_size(state.caps, 'derivatives', n, _numbers(state, request))
    for name in TENSORS:
        if getattr(request, name):
            setattr(response, name, convert.floats(
                _ordered_tensor(state, getattr(state.robot, name)(state.q))))
    if request.gravity_stiffness:
        response.gravity_stiffness = convert.floats(
            state.ordered_matrix(state.robot.gravity_stiffness(state.q)))
    if request.regressor:
        _fill_regressor(state, a, request, response)
    if request.weights:
        _fill_hessian_product(state, a, request, response)
    response.states = n
    return state.fill_head(response)


def _check(request: DerivativeTerms.Request) -> None:
    """Refuse a request for nothing, and fields that are not read."""
    if not any(getattr(request, name) for name in REQUESTS):
        raise DynamicsError(f'nothing is requested; expected at least one of {", ".join(REQUESTS)}')
    if not request.regressor:
        for name in ('friction', 'armature'):
            refuse_given(request, name, 'it is read only with regressor')
    if not request.weights:
        for name in DIRECTION:
            refuse_given(request, f'{name}_direction', 'it is read only with weights')
    if not (request.regressor or request.weights):
        refuse_given(request, 'acceleration', 'it is read only with regressor or weights')


def _numbers(state: RequestState, request: DerivativeTerms.Request) -> int:
    """Return how many numbers the reply has for one state."""
    nv = state.robot.nv
    return (sum(bool(getattr(request, name)) for name in TENSORS) * nv ** 3
            + request.gravity_stiffness * nv ** 2
            + request.regressor * nv * len(_columns(state, request))
            + bool(request.weights) * 3 * nv)


def _order(state: RequestState) -> np.ndarray:
    """Return the degrees of freedom in the order of the reply."""
    order = state.selection.order
    return np.arange(state.robot.nv) if order is None else order


def _ordered_tensor(state: RequestState, x: np.ndarray) -> np.ndarray:
    """Return an array with its last three axes in the order of the reply."""
    order = _order(state)
    return x[..., order[:, None, None], order[:, None], order]


def _columns(state: RequestState, request: DerivativeTerms.Request) -> np.ndarray:
    """Return the columns of the regressor: links as in the model, joints as in the reply."""
    bodies, order = 10 * len(state.robot.body_names), _order(state)
    losses = 2 * request.friction + request.armature
    return np.concatenate([np.arange(bodies), *(bodies + k * len(order) + order
                                                for k in range(losses))])


def _fill_regressor(state: RequestState, a: np.ndarray, request: DerivativeTerms.Request,
                    response: DerivativeTerms.Response) -> None:
    columns = _columns(state, request)
    Y = state.robot.regressor(state.q, state.v, a, request.friction, request.armature)
    response.regressor = convert.floats(Y[..., _order(state)[:, None], columns])
    response.columns, response.frames = len(columns), list(state.robot.body_names)


def _fill_hessian_product(state: RequestState, a: np.ndarray, request: DerivativeTerms.Request,
                          response: DerivativeTerms.Response) -> None:
    one_row, zero = state._replace(many=False), np.zeros(state.robot.nv)
    weights = one_row.entries('weights', request.weights, zero)
    direction = [one_row.entries(f'{name}_direction', getattr(request, f'{name}_direction'), zero)
                 for name in DIRECTION]
    found = state.robot.inverse_dynamics_hessian_product(state.q, state.v, a, weights, *direction)
    for name, rate in zip(DIRECTION, found):
        setattr(response, f'{name}_gradient_rate', convert.floats(state.ordered(rate)))
