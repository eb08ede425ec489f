"""Convert the tasks and bounds of a TaskControl request to Task and Bound, and check them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import msg
from dynamics_node.errors import DynamicsError
from dynamics_node.ros.services.constraint_request import Constraints
from dynamics_node.ros.services.request_state import RequestState
from dynamics_node.task_space.bounds import DEFAULT_BOUNDS, Bound
from dynamics_node.task_space.tasks import Task, one_axis_joints

# kind -> the fields of a TaskBound that it reads, beside kind and level
READS = {'torque': ('limit',), 'acceleration': ('limit',), 'joint_limits': ('limit', 'step'),
         'friction': ('sides', 'contacts', 'sizes')}
SIDES = 4  # default of the message


def tasks_of(state: RequestState, request: Any) -> tuple[Task, ...]:
    """Return the tasks of a request."""
    return tuple([_task(state, message) for message in request.tasks])


def _task(state: RequestState, message: msg.Task) -> Task:
    kind, joints, value = message.kind, tuple(message.joints), tuple(message.value)
    if state.selection.order is not None:  # the reply is not in the model's order
        if kind == 'posture' and not joints:
            known = one_axis_joints(state.robot.model).place
            joints = tuple(name for name in state.selection.names if name in known)
        elif kind == 'torque':
            value = tuple(_in_model_order(state, value))
    return task_of(message, joints, value)


def task_of(message: msg.Task, joints: Sequence[str], value: Sequence[float]) -> Task:
    """Return the Task of a message.

    :param joints, value: as in the message, in the order of the model.
    """
    return Task(message.name, message.kind, message.level, message.weight, message.frame,
                tuple(message.axes), tuple(joints), message.contact, tuple(message.position),
                tuple(message.velocity), tuple(message.acceleration), tuple(value),
                message.stiffness, _damping(message))


def _damping(message: msg.Task) -> float:
    """Return the damping of a task, nan where there is none."""
    damping = message.damping
    if not damping:
        return math.nan
    if len(damping) != 1 or math.isnan(damping[0]):
        raise DynamicsError(f"task '{message.name}': damping is {damping.tolist()}; expected one "
                            'number that is not negative, or none')
    return damping[0]


def bounds_of(state: RequestState, request: Any, constraints: Constraints) -> tuple[Bound, ...]:
    """Return the bounds of a request."""
    if request.unbounded:
        if request.bounds:
            raise DynamicsError('bounds has some that unbounded leaves out; give one of the two')
        return ()
    if not request.bounds:
        return DEFAULT_BOUNDS
    return tuple([bound_of(message, _limit(state, message.limit), constraints)
                  for message in request.bounds])


def bound_of(message: msg.TaskBound, limit: ArrayLike | None, constraints: Constraints) -> Bound:
    """Return the Bound of a message.

    :param limit: as in the message, in the order of the model; None: there is none.
    :param constraints: that the sizes of contacts belong to.
    """
    kind = message.kind
    given = {'limit': len(message.limit), 'step': message.step, 'sides': message.sides != SIDES,
             'contacts': len(message.contacts), 'sizes': len(message.sizes)}
    for field, is_given in given.items():
        if kind in READS and field not in READS[kind] and is_given:
            raise DynamicsError(f"bound '{kind}': {field} is given, but not read; expected "
                                f'only: {", ".join(READS[kind])}')
    return Bound(kind, limit, message.step, message.sides, _sizes(message, constraints),
                 message.level)


def _limit(state: RequestState, limit: Sequence[float]) -> ArrayLike | None:
    limits = one_or_several(limit)
    return _in_model_order(state, limits) if len(limit) > 1 else limits


def one_or_several(limit: Sequence[float]) -> ArrayLike | None:
    """Return one number, an array of several, or None for an empty list."""
    if len(limit) < 2:
        return limit[0] if limit else None
    return np.array(limit)


def _in_model_order(state: RequestState, values: Any) -> np.ndarray:
    """Return values in the order of the reply as one per degree of freedom.

    Values of a wrong size are returned unchanged: Bound and Task refuse them.
    """
    order = state.selection.order
    values = np.array(values)
    if order is None or len(values) != len(order):
        return values
    own = np.empty(len(order))
    own[order] = values
    return own


def _sizes(message: msg.TaskBound, constraints: Constraints) -> Any:
    """Return {contact: (half length, half width) or (half length,)} of contact areas."""
    if not message.contacts and not message.sizes:
        return {}
    lines = {constraint.name for constraint in constraints if constraint.kind == 'line_contact'}
    ends = np.cumsum([1 if name in lines else 2 for name in message.contacts], dtype=int)
    if len(message.sizes) != (ends[-1] if len(ends) else 0) or (
            len(set(message.contacts)) < len(message.contacts)):
        raise DynamicsError(f"bound '{message.kind}': sizes has {len(message.sizes)} numbers for "
                            f'the contacts {", ".join(message.contacts) or "none"}; expected one '
                            'for each line and two for each flat contact, each named once')
    parts = np.split(np.array(message.sizes), ends[:-1])
    return dict(zip(message.contacts, parts))
