"""Forces of contacts, torques that stand on them, and what happens when they hit."""

import math

import numpy as np
from geometry_msgs.msg import Wrench

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import CONTACTS, Constraint, validate
from dynamics_node.constrained.contact_forces import by_name
from dynamics_node.constrained.friction_cone import check_contacts
from dynamics_node.constrained.impact import restitution_of_rows
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.services.batch import answer_to
from dynamics_node.ros.services.constraint_request import (
    constraints_in,
    fill_report,
    for_once,
    refuse_unread,
    weights,
)
from dynamics_node.ros.services.dynamics import accelerations, efforts, pushes
from dynamics_node.ros.services.request_state import one_row, one_state, request_state

READERS = {'acceleration': ('distribution',), 'effort': ('forces',),
           'external_wrenches': ('forces', 'distribution'), 'restitution': ('impact',),
           'choice': ('distribution',), 'effort_weights': ('distribution',),
           'force_weights': ('distribution',)}
NOWHERE = (math.nan, math.nan, math.nan)


def contact_and_impact(desk, request, response):
    """Fill a ContactAndImpact response."""
    answer = answer_to(request.question, QUESTIONS)
    refuse_unread(request, request.question, READERS)
    case = for_once(one_state(request_state(desk, request)))
    contacts = contacts_of(request)
    held = (*case.robot.loops.constraints, *contacts)
    validate(case.robot.model, held)
    case, multipliers = answer(case, request, response, contacts, held)
    _fill_contacts(response, held, multipliers)
    fill_report(response, held, multipliers, case.robot.constraint_report(case.q, case.v, held))
    return case.head(response)


def contacts_of(request):
    """Return the contacts of a request, those of its YAML first."""
    frames = list(request.contact_frames)
    kinds = _each('contact_kinds', request.contact_kinds, frames, 'point_contact')
    friction = _each('friction', request.friction, frames, math.nan)
    for kind in kinds:
        if kind not in CONTACTS:
            raise DynamicsError(f"contact_kinds has '{kind}'; expected {', '.join(CONTACTS)}")
    contacts = (*constraints_in('contacts_yaml', request.contacts_yaml),
                *(Constraint(frame, kind, frame, friction=mu)
                  for frame, kind, mu in zip(frames, kinds, friction)))
    if not contacts:
        raise DynamicsError('no contacts: neither contact_frames nor contacts_yaml has any')
    return contacts


def _forces(case, request, response, contacts, held):
    robot = case.robot
    case, tau = efforts(case, request, needed=actuated_dofs(robot.model, robot.loops.passive))
    one_row('effort', tau, case.choice)
    found = robot.contact_forces(case.q, case.v, tau, contacts, *pushes(request))
    _fill_motion(case, response, found.a, tau, found.violation)
    return case, found.force


def _distribution(case, request, response, contacts, held):
    a = one_row('acceleration', accelerations(case, request), case.choice)
    rows = len(restitution_of_rows(held, 0.0))
    found = case.robot.floating_base_torques(
        case.q, case.v, a, contacts, request.choice or 'least_torque',
        weights=weights(case, request, rows),
        wrenches=convert.wrenches(request.external_wrenches) or None)
    _fill_motion(case, response, a, found.tau, found.slip)
    response.supported = bool(found.supported)
    response.unsupported = convert.floats(case.ordered(found.unsupported))
    return case, found.force


def _impact(case, request, response, contacts, held):
    robot = case.robot
    e = _each('restitution', request.restitution, contacts, 0.0)
    if not all(0.0 <= x <= 1.0 for x in e):
        raise DynamicsError(f'restitution is {e}; expected numbers from 0 (plastic) to 1 (elastic)')
    e = {contact.name: x for contact, x in zip(contacts, e)}
    found = robot.impact(case.q, case.v, contacts, e)
    A = robot.constraint_rows(case.q, case.v, held).A
    response.velocity = convert.floats(case.ordered(found.v))
    response.energy_loss = float(found.energy_loss)
    response.violations = convert.floats(
        A @ found.v + restitution_of_rows(held, e) * (A @ case.v))
    return case, found.impulse


QUESTIONS = {'forces': _forces, 'distribution': _distribution, 'impact': _impact}


def _fill_motion(case, response, a, tau, violation):
    response.acceleration = convert.floats(case.ordered(a))
    response.effort = convert.floats(case.ordered(tau))
    response.violations = convert.floats(violation)


def _fill_contacts(response, held, multipliers):
    """Fill what is said of each contact."""
    parts = by_name(held, multipliers)
    checks = check_contacts(held, multipliers)
    response.contact_names = [check.name for check in checks]
    response.contact_wrenches = [_wrench(constraint, parts[constraint.name])
                                 for constraint in held if constraint.is_contact]
    response.verdicts = [check.verdict for check in checks]
    response.margins = [check.margin for check in checks]
    response.friction_needed = [check.ratio for check in checks]
    response.pressure_centers = [
        convert.point((*check.pressure, 0.0) if check.pressure else NOWHERE) for check in checks]


def _wrench(constraint, part):
    """Return the Wrench of a contact's rows."""
    moment = part[3:]
    if constraint.kind == 'line_contact':  # its two moments are about directions across the line
        moment = constraint.across.T @ moment
    return Wrench(force=convert.vector3(part[:3]),
                  torque=convert.vector3(moment if len(moment) else np.zeros(3)))


def _each(field, values, owners, left_out):
    """Return one value for each owner, from none, from one for all, or from one each."""
    values = list(values) or [left_out]
    if len(values) not in (1, len(owners)):
        raise DynamicsError(f'{field} has {len(values)} entries; expected one for all, '
                            f'{len(owners)}, or none')
    return values * len(owners) if len(values) == 1 else values
