"""The dynamics of many states in one call."""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.handlers.case import case_of
from dynamics_node.ros.handlers.dynamics import accelerations, efforts, mask, pushes
from dynamics_node.ros.handlers.terms import fill_terms

LARGEST_REPLY = 256_000_000  # [bytes] a reply that DDS would choke on is refused instead


def batch_dynamics(desk, request, response):
    """Fill a BatchDynamics response."""
    question = QUESTIONS.get(request.question)
    if question is None:
        raise DynamicsError(f"question is '{request.question}'; valid choices are "
                            f'{", ".join(QUESTIONS)}')
    case, response.states = question(case_of(desk, request), request, response)
    return case.head(response)


def _inverse(case, request, response):
    case, n, (a,) = _rows(case, acceleration=accelerations(case, request))
    tau = case.robot.inverse_dynamics(case.q, case.v, a, *pushes(request))
    response.effort = convert.floats(case.ordered(tau))
    return case, n


def _forward(case, request, response):
    case, tau = efforts(case, request)
    case, n, (tau,) = _rows(case, effort=tau)
    a = case.robot.forward_dynamics(case.q, case.v, tau, *pushes(request))
    response.acceleration = convert.floats(case.ordered(a))
    return case, n


def _hybrid(case, request, response):
    given = mask(case, request)
    case, tau = efforts(case, request, needed=~given)
    case, n, (a, tau) = _rows(case, acceleration=accelerations(case, request), effort=tau)
    a, tau = case.robot.hybrid_dynamics(case.q, case.v, a, tau, given, *pushes(request))
    response.acceleration = convert.floats(case.ordered(a))
    response.effort = convert.floats(case.ordered(tau))
    return case, n


def _terms(case, request, response):
    case, n, _ = _rows(case)
    size = 8 * n * case.robot.nv * (2 * case.robot.nv + 3)
    if size > LARGEST_REPLY:
        raise DynamicsError(f'the terms of {n} states take {size / 1e6:.0f} MB; at most '
                            f'{LARGEST_REPLY / 1e6:.0f} MB are sent: ask for fewer states at once')
    fill_terms(case, response)
    response.kinetic_energy = convert.floats(case.robot.kinetic_energy(case.q, case.v))
    response.potential_energy = convert.floats(case.robot.potential_energy(case.q))
    return case, n


QUESTIONS = {'inverse': _inverse, 'forward': _forward, 'hybrid': _hybrid, 'terms': _terms}


def _rows(case, **inputs):
    """Return case, number of states, inputs, the case and inputs with one row per state."""
    fields = {'position': case.q, 'velocity': case.v, **inputs}
    sizes = {name: len(x) for name, x in fields.items() if x.ndim == 2}
    if len(set(sizes.values())) > 1:
        said = ', '.join(f'{name} has {n}' for name, n in sizes.items())
        raise DynamicsError(f'all must hold the same number of states, or one; {said}')
    n = next(iter(sizes.values()), 1)

    def rows(x):
        return x if len(x) == n and x.ndim == 2 else np.broadcast_to(x, (n, x.shape[-1]))
    return case._replace(q=rows(case.q), v=rows(case.v)), n, [
        rows(x) for x in inputs.values()]
