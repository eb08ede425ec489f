"""Serve ~/contact_and_impact: contact forces, their distribution, impacts, free motion."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Wrench

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import CONTACTS, Constraint
from dynamics_node.constrained.contact_forces import by_name
from dynamics_node.constrained.friction_cone import check_contacts
from dynamics_node.constrained.impact import restitution_of_rows
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.constraint_request import (
    Constraints,
    check_constraints,
    constraints_in,
    fill_report,
    weights,
    without_compilation,
)
from dynamics_node.ros.services.request_fields import (
    accelerations,
    efforts,
    entry_of,
    wrenches,
    wrenches_or_none,
)
from dynamics_node.ros.services.request_state import RequestState, request_state
from dynamics_node.ros.services.soft_contact import fill_soft_forces
from dynamics_node.ros.services.unread_fields import refuse_given, refuse_unread
from dynamics_node.srv import ContactAndImpact

RIGID = ('forces', 'distribution', 'impact', 'support')
READERS = {'acceleration': ('distribution',), 'effort': ('forces',),
           'external_wrenches': ('forces', 'distribution'), 'restitution': ('impact',),
           'wrenches_in_root_axes': ('forces', 'distribution'),
           'choice': ('distribution',), 'effort_weights': ('distribution',),
           'force_weights': ('distribution',),
           **dict.fromkeys(('contacts_yaml', 'contact_frames', 'contact_kinds', 'friction'), RIGID),
           **dict.fromkeys(('soft_contacts_yaml', 'touch_points'), ('soft_forces',))}
NOWHERE = (math.nan, math.nan, math.nan)


def contact_and_impact(node_state: NodeState, request: ContactAndImpact.Request,
                       response: ContactAndImpact.Response) -> ContactAndImpact.Response:
    """Fill a ContactAndImpact response."""
    fill = entry_of(request.question, QUANTITIES)
    refuse_unread(request, READERS)
    return fill(node_state, request, response).fill_head(response)


def _rigid(compute: Callable) -> Callable:
    """Return the function that fills a response with a quantity of rigid contacts."""
    def fill(node_state: NodeState, request: Any, response: Any) -> RequestState:
        contacts = contacts_of(request)
        state = without_compilation(request_state(node_state, request))
        constraints = (*state.robot.loops.constraints, *contacts)
        check_constraints(state, constraints)
        state, multipliers = compute(state, request, response, contacts, constraints)
        if len(multipliers):
            _fill_contacts(response, constraints, multipliers)
        fill_report(response, constraints, multipliers,
                    state.robot.constraint_report(state.q, state.v, constraints))
        return state
    return fill


def contacts_of(request: Any) -> Constraints:
    """Return the contacts of a request, those of its YAML first."""
    frames = list(request.contact_frames)
    if not frames:
        for field in ('contact_kinds', 'friction'):
            refuse_given(request, field, 'it is read only with contact_frames')
    kinds = _each('contact_kinds', request.contact_kinds, frames, 'point_contact')
    friction = _each('friction', request.friction, frames, math.nan)
    for kind in kinds:
        if kind not in CONTACTS:
            raise DynamicsError(f"contact_kinds has '{kind}'; expected {', '.join(CONTACTS)}")
    contacts = (*constraints_in('contacts_yaml', request.contacts_yaml),
                *(Constraint(frame, kind, frame, friction=mu)
                  for frame, kind, mu in zip(frames, kinds, friction)))
    if not contacts:
        raise DynamicsError('no contacts: contact_frames and contacts_yaml are empty')
    return contacts


def _forces(state: RequestState, request: Any, response: Any, contacts: Constraints,
            constraints: Constraints) -> tuple[RequestState, np.ndarray]:
    robot = state.robot
    state, tau = efforts(state, request, needed=actuated_dofs(robot.model, robot.loops.passive))
    found = robot.contact_forces(state.q, state.v, tau, contacts, *wrenches(state, request))
    _fill_motion(state, response, found.a, tau, found.violation)
    return state, found.force


def _distribution(state: RequestState, request: Any, response: Any, contacts: Constraints,
                  constraints: Constraints) -> tuple[RequestState, np.ndarray]:
    a = accelerations(state, request)
    rows = len(restitution_of_rows(constraints, 0.0))
    found = state.robot.floating_base_torques(
        state.q, state.v, a, contacts, request.choice or 'least_torque',
        weights=weights(state, request, rows),
        wrenches=wrenches_or_none(state, request))
    _fill_motion(state, response, a, found.tau, found.slip)
    response.supported = bool(found.supported)
    response.unsupported = convert.floats(state.ordered(found.unsupported))
    return state, found.force


def _impact(state: RequestState, request: Any, response: Any, contacts: Constraints,
            constraints: Constraints) -> tuple[RequestState, np.ndarray]:
    robot = state.robot
    e = _each('restitution', request.restitution, contacts, 0.0)
    by_contact = {contact.name: x for contact, x in zip(contacts, e)}
    found = robot.impact(state.q, state.v, contacts, by_contact)
    A = robot.constraint_rows(state.q, state.v, constraints).A
    response.velocity = convert.floats(state.ordered(found.v))
    response.energy_loss = float(found.energy_loss)
    response.violations = convert.floats(
        A @ found.v + restitution_of_rows(constraints, by_contact) * (A @ state.v))
    return state, found.impulse


def _support(state: RequestState, request: Any, response: Any, contacts: Constraints,
             constraints: Constraints) -> tuple[RequestState, np.ndarray]:
    found = state.robot.support_consistent_dynamics(state.q, state.v, contacts)
    response.contact_names = [contact.name for contact in constraints if contact.is_contact]
    response.inertia = convert.floats(found.inertia)
    response.null_space = convert.floats(state.ordered_matrix(found.null_space))
    response.bias = convert.floats(state.ordered(found.bias))
    response.jacobian = convert.floats(state.ordered(found.jacobian))
    response.bias_acceleration = convert.floats(found.drift)
    return state, np.empty(0)  # no forces


QUANTITIES = {'forces': _rigid(_forces), 'distribution': _rigid(_distribution),
              'impact': _rigid(_impact), 'support': _rigid(_support),
              'soft_forces': fill_soft_forces}


def _fill_motion(state: RequestState, response: Any, a: np.ndarray, tau: np.ndarray,
                 violation: np.ndarray) -> None:
    response.acceleration = convert.floats(state.ordered(a))
    response.effort = convert.floats(state.ordered(tau))
    response.violations = convert.floats(violation)


def _fill_contacts(response: Any, constraints: Constraints, multipliers: np.ndarray) -> None:
    """Fill the fields with one entry per contact."""
    parts = by_name(constraints, multipliers)
    checks = check_contacts(constraints, multipliers)
    response.contact_names = [check.name for check in checks]
    response.contact_wrenches = [_wrench(constraint, parts[constraint.name])
                                 for constraint in constraints if constraint.is_contact]
    response.verdicts = [check.verdict for check in checks]
    response.margins = [check.margin for check in checks]
    response.friction_needed = [check.ratio for check in checks]
    response.pressure_centers = [
        convert.point((*check.pressure, 0.0) if check.pressure else NOWHERE) for check in checks]


def _wrench(constraint: Constraint, part: np.ndarray) -> Wrench:
    """Return the Wrench of a contact's rows."""
    moment = part[3:]
    if constraint.kind == 'line_contact':  # its two moments are about directions across the line
        moment = constraint.across.T @ moment
    return Wrench(force=convert.vector3(part[:3]),
                  torque=convert.vector3(moment if len(moment) else np.zeros(3)))


def _each(field: str, values: Any, owners: Sequence[Any], default: Any) -> list[Any]:
    """Return one value for each owner; given are none (the default), one for all, or one each."""
    values = list(values) or [default]
    if len(values) not in (1, len(owners)):
        raise DynamicsError(f'{field} has {len(values)} entries; expected one for all, '
                            f'{len(owners)}, or none')
    return values * len(owners) if len(values) == 1 else values
