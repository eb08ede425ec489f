"""How the dynamics change with the state: derivatives and linear models, of one state or many."""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.services.batch import answer_to, check_size, rows
from dynamics_node.ros.services.dynamics import accelerations, efforts, mask, pushes
from dynamics_node.ros.services.request_state import request_state


def dynamics_derivatives(desk, request, response):
    """Fill a DynamicsDerivatives response."""
    answer = answer_to(request.question, QUESTIONS)
    case, response.states, derivatives = answer(request_state(desk, request), request, response)
    response.by_position, response.by_velocity, response.by_input = (
        convert.floats(case.ordered_matrix(matrix)) for matrix in derivatives)
    return case.head(response)


def _inverse(case, request, response):
    case, n, (a,) = rows(case, acceleration=accelerations(case, request))
    check_size('derivatives', n, case.robot.nv * (3 * case.robot.nv + 1))
    state = case.q, case.v, a, *pushes(request)
    tau = case.robot.inverse_dynamics(*state)
    response.effort = convert.floats(case.ordered(tau))
    return case, n, case.robot.inverse_dynamics_derivatives(*state)


def _forward(case, request, response):
    case, tau = efforts(case, request)
    case, n, (tau,) = rows(case, effort=tau)
    check_size('derivatives', n, case.robot.nv * (3 * case.robot.nv + 1))
    state = case.q, case.v, tau, *pushes(request)
    a = case.robot.forward_dynamics(*state)
    response.acceleration = convert.floats(case.ordered(a))
    return case, n, case.robot.forward_dynamics_derivatives(*state)


def _hybrid(case, request, response):
    given = mask(case, request)
    case, tau = efforts(case, request, needed=~given)
    case, n, (a, tau) = rows(case, acceleration=accelerations(case, request), effort=tau)
    check_size('derivatives', n, case.robot.nv * (3 * case.robot.nv + 2))
    state = case.q, case.v, a, tau, given, *pushes(request)
    a, tau = case.robot.hybrid_dynamics(*state)
    response.acceleration = convert.floats(case.ordered(a))
    response.effort = convert.floats(case.ordered(tau))
    return case, n, case.robot.hybrid_dynamics_derivatives(*state)


QUESTIONS = {'inverse': _inverse, 'forward': _forward, 'hybrid': _hybrid}


def linearization(desk, request, response):
    """Fill a Linearization response."""
    step = _step(request.step)
    case, tau = efforts(request_state(desk, request), request)
    case, n, (tau,) = rows(case, effort=tau)
    nv = case.robot.nv
    check_size('linear models', n, 2 * nv * (3 * nv + 1))
    A, B, drift = case.robot.linearize(case.q, case.v, tau, step, *pushes(request))
    order = np.arange(nv) if case.choice.order is None else case.choice.order
    state = np.concatenate([order, nv + order])  # positions, velocities
    response.state_matrix = convert.floats(A[..., state[:, None], state])
    response.input_matrix = convert.floats(B[..., state[:, None], order])
    response.drift = convert.floats(drift[..., state])
    response.states = n
    return case.head(response)


def _step(step):
    """Return the step of a request, None for continuous time."""
    if not (np.isfinite(step) and step >= 0.0):
        raise DynamicsError(f'step is {step}; expected zero (continuous time) or a finite, '
                            'positive number of seconds')
    return step or None
