"""Check the size of a request before anything is computed: lengths of its lists and texts.

Checked elsewhere: states (long_requests.py), constraints in YAML (constraint_request.py), bytes of
the reply (request_fields.py). The names in a list are names of the robot, which has short ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, cast

from dynamics_node.ros.message_fields import message_fields
from dynamics_node.ros.parameters.caps import Caps

NUMBERS = {'restarts': 'service.max_restarts', 'samples': 'service.max_samples',
           'sides': 'service.max_sides'}
TEXTS = dict.fromkeys(('constraints_yaml', 'contacts_yaml', 'soft_contacts_yaml'),
                      'service.max_yaml')
LISTS = {'targets': 'service.max_targets', 'tasks': 'service.max_tasks',
         'sensor_links': 'service.max_targets', 'sensor_frames': 'service.max_targets',
         'bounds': 'service.max_tasks', 'frames': 'service.max_frames',
         'external_wrenches': 'service.max_frames', 'wrench_rates': 'service.max_frames',
         'inertia_frames': 'service.max_frames', 'origin_joints': 'service.max_frames',
         'axis_joints': 'service.max_frames'}
# Lists of one type of message whose cap is another one, or None: their entries are states.
LISTS_OF_TYPE = {('OperationalSpace_Request', 'frames'): 'service.max_targets',
                 ('JointTrajectory', 'points'): None,
                 **{(f'{kind}_Request', field): None
                    for kind in ('BatchDynamics', 'DynamicsDerivatives', 'Linearization',
                                 'DirectionalDerivative', 'DerivativeTerms')
                    for field in ('position', 'velocity', 'acceleration', 'effort')}}


class _Count(NamedTuple):
    """One count in a message, and its cap."""

    field: str
    parameter: str                  # its cap
    of: Callable[[Any], int]        # value of the field -> count
    what: str                       # name of the counted things


class _Plan(NamedTuple):
    """All counts in a message."""

    counts: tuple[_Count, ...]
    messages: tuple[str, ...]       # fields that are a message with something to count
    lists: tuple[str, ...]          # fields that are a list of such messages


def check_request(caps: Caps, message: Any) -> None:
    """Raise a CapExceeded if a request, or a message in it, exceeds a cap."""
    most = caps.most
    message_type: Any = type(message)
    plan = _plan(message_type)
    for field, parameter, count, what in plan.counts:
        if count(getattr(message, field)) > most[parameter]:
            caps.check(parameter, count(getattr(message, field)), what)
    for field in plan.messages:
        check_request(caps, getattr(message, field))
    for field in plan.lists:
        for each in getattr(message, field):
            check_request(caps, each)


def request_bytes(message: Any) -> int:
    """Return about how many bytes the lists and texts of a request take."""
    size, message_type = 0, cast(Any, type(message))
    for field, kind in message_fields(message_type).items():
        value = getattr(message, field)
        if kind.message is not None and not kind.many:
            size += request_bytes(value)
        elif kind.message is not None:   # all entries are about equally large
            size += len(value) * request_bytes(value[0]) if value else 0
        elif kind.many:
            size += len(value) * (getattr(value, 'itemsize', 0) or 100)
        elif isinstance(value, str):
            size += len(value)
    return size


@cache
def _plan(message_type: Any) -> _Plan:
    counts: list[_Count] = []
    messages: list[str] = []
    lists: list[str] = []
    for field, kind in message_fields(message_type).items():
        if kind.many:
            cap = LISTS_OF_TYPE.get((message_type.__name__, field),
                                    LISTS.get(field, 'service.max_entries'))
            if cap is not None:
                counts.append(_Count(field, cap, len, field))
        elif kind.is_text:
            counts.append(_Count(field, TEXTS.get(field, 'service.max_name'), len,
                                 f'characters of {field}'))
        elif field in NUMBERS:
            counts.append(_Count(field, NUMBERS[field], int, field))
        if kind.message is not None and any(_plan(kind.message)) and (
                (message_type.__name__, field) not in LISTS_OF_TYPE):
            (lists if kind.many else messages).append(field)
    return _Plan(tuple(counts), tuple(messages), tuple(lists))
