"""Tasks in, torques out: the whole-body problem of one state."""

import numpy as np

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import row_names
from dynamics_node.ros import convert
from dynamics_node.ros.services.constraint_request import held_in, passive_joints, stabilisation
from dynamics_node.ros.services.dynamics import pushes
from dynamics_node.ros.services.request_state import one_state, request_state
from dynamics_node.ros.services.task_request import bounds_of, tasks_of


def task_control(desk, request, response):
    """Fill a TaskControl response; what cannot be solved is no refusal, and has no torques.

    A controller asks with the same contacts again and again: they get kernels, of which the engine
    makes no more than it should (engine.MOST_SETS).
    """
    case = one_state(request_state(desk, request))
    robot = case.robot
    held = held_in(robot, request)
    passive = passive_joints(robot, request.passive_joints, request.all_active)
    tasks = tasks_of(case, request)
    found = robot.whole_body(
        case.q, case.v, tasks, bounds=bounds_of(case, request, held), constraints=held,
        passive=passive, wrenches=(pushes(request) or (None,))[0],
        stabilisation=stabilisation(request))
    response.status, response.conflict = found.status, list(found.conflict)
    if found.status == 'solved':
        response.effort = convert.floats(case.ordered(found.torque))
        response.acceleration = convert.floats(case.ordered(found.acceleration))
        response.row_names = row_names(held)
        response.multipliers = convert.floats(np.concatenate([np.empty(0),
                                                              *found.forces.values()]))
        response.errors = _errors(case, tasks, passive, found.errors)
        response.active = list(found.active)
    return case.head(response)


def _errors(case, tasks, passive, errors):
    """Return the TaskErrors of all tasks, joints in the order of the reply."""
    from dynamics_node.msg import TaskError

    order = case.choice.order
    if order is not None:
        driven = actuated_dofs(case.robot.model, passive)
        motor = np.cumsum(driven) - 1  # degree of freedom -> its row
        rows = motor[order[driven[order]]]
        errors = {task.name: errors[task.name][rows] if task.kind == 'torque'
                  else errors[task.name] for task in tasks}
    return [TaskError(name=name, error=convert.floats(error)) for name, error in errors.items()]
