"""Fill the fields of ~/contact_and_impact for the question soft_forces."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped

from dynamics_node.constrained.read_soft_contacts import KEY, read_soft_contacts
from dynamics_node.constrained.soft_contact import SoftContact
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.constraint_request import with_key
from dynamics_node.ros.services.request_state import RequestState, request_state


def fill_soft_forces(node_state: NodeState, request: Any, response: Any) -> RequestState:
    """Fill forces, depths, touch points and wrenches of soft contacts; return the state used."""
    contacts = _contacts_in(request.soft_contacts_yaml)
    state = request_state(node_state, request)
    state.caps.check('service.max_constraints', len(contacts), 'soft contacts')
    found = state.robot.soft_contact_forces(state.q, state.v, contacts,
                                            _touch_points(request, len(contacts)))
    response.contact_names = [contact.name for contact in contacts]
    response.soft_forces = [convert.vector3(force) for force in found.force]
    response.depths = convert.floats(found.depth)
    response.touch_points = convert.floats(found.touch)
    response.soft_wrenches = [_stamped(frame, wrench) for frame, wrench in found.wrenches.items()]
    return state


@lru_cache(maxsize=32)
def _contacts_in(text: str) -> tuple[SoftContact, ...]:
    """Return the soft contacts of a YAML text; cached, since clients often send the same text."""
    contacts: tuple[SoftContact, ...] = ()
    if text.strip():
        try:
            contacts = read_soft_contacts(with_key(KEY, text))
        except DynamicsError as error:
            raise DynamicsError(f'soft_contacts_yaml: {error}') from None
    if not contacts:
        raise DynamicsError('no contacts: soft_contacts_yaml is empty')
    return contacts


def _touch_points(request: Any, contacts: int) -> np.ndarray | None:
    points = np.array(request.touch_points)
    if points.size not in (0, 3 * contacts):
        raise DynamicsError(f'touch_points has {points.size} entries; expected {3 * contacts}, '
                            'three per soft contact, or none')
    return points.reshape(contacts, 3) if points.size else None


def _stamped(frame: str, wrench: np.ndarray) -> WrenchStamped:
    message = WrenchStamped(wrench=convert.wrench(wrench))
    message.header.frame_id = frame
    return message
