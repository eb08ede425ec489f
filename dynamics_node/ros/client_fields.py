"""Convert arguments of DynamicsClient to fields of requests: quantities, wrenches, constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import WrenchStamped
from numpy.typing import ArrayLike

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.read_loops import read_constraints, to_yaml
from dynamics_node.constrained.read_soft_contacts import (
    read_soft_contacts,
    soft_contacts_to_yaml,
)
from dynamics_node.constrained.soft_contact import SoftContact
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.services.directional_derivative import NAMED_RATES

# An array over joints, {joint: value}, or None.
Quantity: TypeAlias = ArrayLike | Mapping[str, float] | None
Wrenches: TypeAlias = Mapping[str, Sequence[float]] | None   # {link: (fx, fy, fz, tx, ty, tz)}
Rates: TypeAlias = Mapping[str, Sequence[float]] | None      # {link or joint: numbers}
Constraints: TypeAlias = str | Sequence[Constraint | Mapping[str, Any]]   # str: YAML

SoftContacts: TypeAlias = str | Sequence[SoftContact | Mapping[str, Any]]   # str: YAML


def named_fields(joints: Sequence[str], **quantities: Quantity) -> dict[str, Any]:
    """Return the fields joint_names and one per quantity, from arrays or {joint: value}."""
    given = {name: value for name, value in quantities.items() if value is not None}
    names = list(joints)
    for name, value in given.items():
        if isinstance(value, Mapping):
            names = names or list(value)
            if set(value) != set(names):
                raise DynamicsError(f'{name} has {", ".join(value)}, another quantity or joints '
                                    f'has {", ".join(names)}; name the same joints in all')
            given[name] = [value[joint] for joint in names]
    return {'joint_names': names,
            **{name: convert.floats(np.asarray(value, dtype=float))
               for name, value in given.items()}}


def wrench_messages(wrenches: Wrenches) -> list[WrenchStamped]:
    """Return the messages of {link: (fx, fy, fz, tx, ty, tz)}."""
    stamped = []
    for frame, wrench in (wrenches or {}).items():
        message = WrenchStamped()
        message.header.frame_id = frame
        message.wrench.force = convert.vector3(wrench[:3])
        message.wrench.torque = convert.vector3(wrench[3:])
        stamped.append(message)
    return stamped


def constraints_yaml(constraints: Constraints) -> str:
    """Return the YAML of constraints, given as text, Constraint or dicts."""
    if isinstance(constraints, str):
        return constraints
    return to_yaml(read_constraints(constraints)) if len(constraints) else ''


def soft_contacts_yaml(contacts: SoftContacts) -> str:
    """Return the YAML of soft contacts, given as text, SoftContact or dicts."""
    if isinstance(contacts, str):
        return contacts
    return soft_contacts_to_yaml(read_soft_contacts(contacts)) if len(contacts) else ''


def duration_message(seconds: float) -> Duration:
    """Return the Duration of a number of seconds."""
    whole, rest = divmod(round(seconds * 1e9), convert.BILLION)
    return Duration(sec=whole, nanosec=rest)


def rate_fields(**rates: Rates) -> dict[str, Any]:
    """Return the fields of lists of names and their numbers, of dinertias, dorigins or daxes."""
    fields: dict[str, Any] = {}
    for argument, given in rates.items():
        names, numbers, _ = NAMED_RATES[argument]
        rows = [np.asarray(row, dtype=float) for row in (given or {}).values()]
        fields[names] = list(given or {})
        fields[numbers] = convert.floats(np.concatenate([np.empty(0), *rows]))
    return fields
