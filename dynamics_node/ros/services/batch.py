"""The dynamics of many states in one call."""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.services.dynamics import accelerations, efforts, mask, pushes
from dynamics_node.ros.services.request_state import request_state
from dynamics_node.ros.services.terms import fill_terms

LARGEST_REPLY = 256_000_000  # [bytes] a reply that DDS would choke on is refused instead


def batch_dynamics(desk, request, response):
    """Fill a BatchDynamics response."""
    answer = answer_to(request.question, QUESTIONS)
    case, response.states = answer(request_state(desk, request), request, response)
    return case.head(response)


def _inverse(case, request, response):
    case, n, (a,) = rows(case, acceleration=accelerations(case, request))
    tau = case.robot.inverse_dynamics(case.q, case.v, a, *pushes(request))
    response.effort = convert.floats(case.ordered(tau))
    return case, n


def _forward(case, request, response):
    case, tau = efforts(case, request)
    case, n, (tau,) = rows(case, effort=tau)
    a = case.robot.forward_dynamics(case.q, case.v, tau, *pushes(request))
    response.acceleration = convert.floats(case.ordered(a))
    return case, n


def _hybrid(case, request, response):
    given = mask(case, request)
    case, tau = efforts(case, request, needed=~given)
    case, n, (a, tau) = rows(case, acceleration=accelerations(case, request), effort=tau)
    a, tau = case.robot.hybrid_dynamics(case.q, case.v, a, tau, given, *pushes(request))
    response.acceleration = convert.floats(case.ordered(a))
    response.effort = convert.floats(case.ordered(tau))
    return case, n


def _terms(case, request, response):
    case, n, _ = rows(case)
    check_size('terms', n, case.robot.nv * (2 * case.robot.nv + 3))
    fill_terms(case, response)
    response.kinetic_energy = convert.floats(case.robot.kinetic_energy(case.q, case.v))
    response.potential_energy = convert.floats(case.robot.potential_energy(case.q))
    return case, n


QUESTIONS = {'inverse': _inverse, 'forward': _forward, 'hybrid': _hybrid, 'terms': _terms}


def answer_to(question, questions):
    """Return what answers a question, from the table of those there are."""
    if question not in questions:
        raise DynamicsError(f"question is '{question}'; valid choices are {', '.join(questions)}")
    return questions[question]


def check_size(what, n, numbers):
    """Refuse a reply that would be too large, before it is made: numbers for each of n states."""
    size = 8 * n * numbers
    if size > LARGEST_REPLY:
        raise DynamicsError(f'the {what} of {n} states take {size / 1e6:.0f} MB; at most '
                            f'{LARGEST_REPLY / 1e6:.0f} MB are sent: ask for fewer states at once')


def rows(case, **inputs):
    """Return case, number of states, inputs, the case and inputs with one row per state."""
    fields = {'position': case.q, 'velocity': case.v, **inputs}
    sizes = {name: len(x) for name, x in fields.items() if x.ndim == 2}
    if len(set(sizes.values())) > 1:
        said = ', '.join(f'{name} has {n}' for name, n in sizes.items())
        raise DynamicsError(f'all must hold the same number of states, or one; {said}')
    n = next(iter(sizes.values()), 1)

    def n_rows(x):
        return x if len(x) == n and x.ndim == 2 else np.broadcast_to(x, (n, x.shape[-1]))
    return case._replace(q=n_rows(case.q), v=n_rows(case.v)), n, [
        n_rows(x) for x in inputs.values()]
