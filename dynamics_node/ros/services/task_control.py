"""Serve ~/task_control: the torques of prioritised tasks, the whole-body problem of one state."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import row_names
from dynamics_node.msg import TaskError
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.constraint_request import (
    constraints_of,
    passive_joints,
    stabilisation,
)
from dynamics_node.ros.services.request_fields import wrenches_or_none
from dynamics_node.ros.services.request_state import RequestState, request_state
from dynamics_node.ros.services.task_request import bounds_of, tasks_of
from dynamics_node.srv import TaskControl
from dynamics_node.task_space.tasks import Task


def task_control(node_state: NodeState, request: TaskControl.Request,
                 response: TaskControl.Response) -> TaskControl.Response:
    """Fill a TaskControl response; an infeasible problem gives success, but no torques.

    A controller usually sends the same contacts in each request: kernels are compiled for them, for
    a limited number of sets (robot_kernels.MOST_SETS).
    """
    state = request_state(node_state, request)
    robot = state.robot
    constraints = constraints_of(state, request)
    passive = passive_joints(robot, request.passive_joints, request.all_active)
    tasks = tasks_of(state, request)
    found: Any = robot.whole_body(
        state.q, state.v, tasks, bounds=bounds_of(state, request, constraints),
        constraints=constraints, passive=passive, wrenches=wrenches_or_none(state, request),
        stabilisation=stabilisation(request))
    response.status, response.conflict = found.status, list(found.conflict)
    if found.status == 'solved':
        response.effort = convert.floats(state.ordered(found.torque))
        response.acceleration = convert.floats(state.ordered(found.acceleration))
        response.row_names = row_names(constraints)
        response.multipliers = convert.floats(np.concatenate([np.empty(0),
                                                              *found.forces.values()]))
        response.errors = _errors(state, tasks, passive, found.errors)
        response.active = list(found.active)
    return state.fill_head(response)


def _errors(state: RequestState, tasks: Sequence[Task], passive: Sequence[str],
            errors: Mapping[str, np.ndarray]) -> list[TaskError]:
    """Return the TaskErrors of all tasks, joints in the order of the reply."""
    order = state.selection.order
    if order is not None:
        actuated = actuated_dofs(state.robot.model, passive)
        row_of = np.cumsum(actuated) - 1  # degree of freedom -> its row
        rows = row_of[order[actuated[order]]]
        errors = {task.name: errors[task.name][rows] if task.kind == 'torque'
                  else errors[task.name] for task in tasks}
    return [TaskError(name=name, error=convert.floats(error)) for name, error in errors.items()]
