"""Which tasks and bounds does a TaskControl request speak of? Messages to data, checked."""

import math

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.task_space.bounds import DEFAULT_BOUNDS, Bound
from dynamics_node.task_space.tasks import Task, one_axis_joints

# kind -> the fields of a TaskBound that it reads, beside kind and level
READS = {'torque': ('limit',), 'acceleration': ('limit',), 'joint_limits': ('limit', 'step'),
         'friction': ('sides', 'contacts', 'sizes')}
SIDES = 4  # as the message comes


def tasks_of(case, request):
    """Return the Tasks of a request."""
    return tuple([_task(case, message) for message in request.tasks])


def _task(case, message):
    kind, joints, value = message.kind, tuple(message.joints), tuple(message.value)
    if case.choice.order is not None:  # the reply is not in the model's order
        if kind == 'posture' and not joints:
            known = one_axis_joints(case.robot.model).place
            joints = tuple(name for name in case.choice.names if name in known)
        elif kind == 'torque':
            value = tuple(_in_model_order(case, value))
    return Task(message.name, kind, message.level, message.weight, message.frame,
                tuple(message.axes), joints, message.contact, tuple(message.position),
                tuple(message.velocity), tuple(message.acceleration), value, message.stiffness,
                _damping(message))


def _damping(message):
    """Return the damping of a task; nan, as Task has it, where there is none."""
    damping = message.damping
    if not damping:
        return math.nan
    if len(damping) != 1 or math.isnan(damping[0]):
        raise DynamicsError(f"task '{message.name}': damping is {damping.tolist()}; expected one "
                            'number that is not negative, or none')
    return damping[0]


def bounds_of(case, request, held):
    """Return the Bounds of a request.

    :param held: the constraints that count, of Constraint.
    """
    if request.unbounded:
        if request.bounds:
            raise DynamicsError('bounds has some that unbounded leaves out; give one of the two')
        return ()
    if not request.bounds:
        return DEFAULT_BOUNDS
    return tuple([_bound(case, message, held) for message in request.bounds])


def _bound(case, message, held):
    kind = message.kind
    given = {'limit': len(message.limit), 'step': message.step, 'sides': message.sides != SIDES,
             'contacts': len(message.contacts), 'sizes': len(message.sizes)}
    for field, is_given in given.items():
        if kind in READS and field not in READS[kind] and is_given:
            raise DynamicsError(f"bound '{kind}': {field} is given, but it has none; expected "
                                f'only: {", ".join(READS[kind])}')
    return Bound(kind, _limit(case, message.limit), message.step, message.sides,
                 _sizes(message, held), message.level)


def _limit(case, limit):
    if len(limit) < 2:
        return limit[0] if limit else None
    return _in_model_order(case, limit)


def _in_model_order(case, values):
    """Return one value per degree of freedom, from the reply's order; a wrong size as it is."""
    order = case.choice.order
    values = np.array(values)
    if order is None or len(values) != len(order):
        return values
    own = np.empty(len(order))
    own[order] = values
    return own


def _sizes(message, held):
    """Return {contact: (half length, half width) or (half,)} of the soles."""
    if not message.contacts and not message.sizes:
        return {}
    lines = {constraint.name for constraint in held if constraint.kind == 'line_contact'}
    ends = np.cumsum([1 if name in lines else 2 for name in message.contacts], dtype=int)
    if len(message.sizes) != (ends[-1] if len(ends) else 0) or (
            len(set(message.contacts)) < len(message.contacts)):
        raise DynamicsError(f"bound '{message.kind}': sizes has {len(message.sizes)} numbers for "
                            f'the contacts {", ".join(message.contacts) or "none"}; expected one '
                            'for each line and two for each flat contact, each named once')
    parts = np.split(np.array(message.sizes), ends[:-1])
    return dict(zip(message.contacts, parts))
