"""Inverse, forward and hybrid dynamics of one state, with loops closed and contacts held."""

import numpy as np

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import row_names
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.services.batch import answer_to
from dynamics_node.ros.services.constraint_request import (
    fill_report,
    for_once,
    held_in,
    passive_joints,
    refuse_unread,
    stabilisation,
    weights,
)
from dynamics_node.ros.services.dynamics import accelerations, efforts, mask, pushes
from dynamics_node.ros.services.request_state import one_row, one_state, request_state

# What is left of a constraint is rounding below this, beside the terms that should cancel.
KEPT = 1e-6
READERS = {'acceleration_given': ('hybrid',), 'acceleration': ('inverse', 'hybrid'),
           'choice': ('inverse',), 'effort_weights': ('inverse',), 'force_weights': ('inverse',),
           'stabilisation': ('forward', 'hybrid'), 'proximal': ('forward',)}


def constrained_dynamics(desk, request, response):
    """Fill a ConstrainedDynamics response."""
    answer = answer_to(request.question, QUESTIONS)
    refuse_unread(request, request.question, READERS)
    case = one_state(request_state(desk, request))
    robot = case.robot
    held = held_in(robot, request)
    if held != robot.loops.constraints:
        case = for_once(case)
    passive = passive_joints(robot, request.passive_joints, request.all_active)
    if request.project:
        case = _projected(case, request, held)
    case, motion = answer(case, request, held, passive)
    response.position = convert.floats(case.ordered_position(case.q))
    response.velocity = convert.floats(case.ordered(case.v))
    response.acceleration = convert.floats(case.ordered(motion.a))
    response.effort = convert.floats(case.ordered(motion.tau))
    report = case.robot.constraint_report(case.q, case.v, held, passive)
    response.residuals = convert.floats(report.residual)
    fill_report(response, held, motion.multipliers, report)
    return case.head(response)


def _inverse(case, request, held, passive):
    robot = case.robot
    a = one_row('acceleration', accelerations(case, request), case.choice)
    if request.project:
        found = robot.constraint_rows(case.q, case.v, held)
        a = _nearest('acceleration', found.A, a, found.gamma, _fixed(case, request), held)
    resting = case.entries('effort', request.effort, np.zeros(robot.nv))
    one_row('effort', resting, case.choice)
    rows = len(row_names(held))
    return case, robot.constrained_inverse_dynamics(
        case.q, case.v, a, held, passive, resting, request.choice or 'least_force',
        weights(case, request, rows), *pushes(request))


def _forward(case, request, held, passive):
    case, tau = efforts(case, request, needed=actuated_dofs(case.robot.model, passive))
    one_row('effort', tau, case.choice)
    rates = stabilisation(request)
    return case, case.robot.constrained_forward_dynamics(
        case.q, case.v, tau, held, *(pushes(request) or (None,)), rates,
        request.proximal or None)


def _hybrid(case, request, held, passive):
    driven = actuated_dofs(case.robot.model, passive)
    given = mask(case, request)
    for k in case.choice.others:  # a passive joint that nobody speaks of goes where the loops go
        place = case.robot.model.joints[k].v
        given[place] = driven[place]
    a = one_row('acceleration', accelerations(case, request), case.choice)
    case, tau = efforts(case, request, needed=~given & driven)
    one_row('effort', tau, case.choice)
    return case, case.robot.constrained_hybrid_dynamics(
        case.q, case.v, a, tau, given, held, *(pushes(request) or (None,)),
        stabilisation(request))


QUESTIONS = {'inverse': _inverse, 'forward': _forward, 'hybrid': _hybrid}


def _projected(case, request, held):
    """Return the case with a state that keeps what is held."""
    robot = case.robot
    named = tuple(request.joint_names) if len(request.position) else ()
    q = robot.project_configuration(case.q, held, named)
    A = robot.constraint_rows(q, case.v, held).A
    fixed = _fixed(case, request) if len(request.velocity) else np.zeros(robot.nv, dtype=bool)
    return case._replace(q=q, v=_nearest('velocity', A, case.v, 0.0, fixed, held))


def _fixed(case, request):
    """Return the degrees of freedom that the request names, (nv,) booleans."""
    fixed = np.zeros(case.robot.nv, dtype=bool)
    for name in request.joint_names:
        fixed[case.robot.model.joint(name).v] = True
    return fixed


def _nearest(field, A, x, target, fixed, held):
    """Return y near x with A y + target = 0, the same where it is fixed, (nv,)."""
    y = np.array(x)
    y[~fixed] -= np.linalg.lstsq(A[:, ~fixed], A @ x + target, rcond=None)[0]
    left = np.abs(A @ y + target)
    size = np.abs(A) @ np.abs(y) + np.abs(target)
    if (left > KEPT * np.maximum(1.0, size)).any():
        worst = row_names(held)[int(left.argmax())]
        raise DynamicsError(f'{field}: the joints named cannot all have it, '
                            f"row '{worst}' is off by {left.max():.3g}; name fewer of them")
    return y
