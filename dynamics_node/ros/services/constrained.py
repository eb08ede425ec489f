"""Serve ~/constrained_dynamics: inverse, forward and hybrid dynamics with loops and contacts."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import row_names
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.constraint_request import (
    Constraints,
    constraints_of,
    fill_report,
    passive_joints,
    stabilisation,
    weights,
    without_compilation,
)
from dynamics_node.ros.services.request_fields import (
    accelerations,
    efforts,
    entry_of,
    given_accelerations,
    wrenches,
    wrenches_or_none,
)
from dynamics_node.ros.services.request_state import RequestState, request_state
from dynamics_node.ros.services.unread_fields import refuse_unread
from dynamics_node.srv import ConstrainedDynamics

# A smaller residual of a constraint, relative to the terms that cancel, is a rounding error.
TOLERANCE = 1e-6
READERS = {'acceleration_given': ('hybrid',), 'acceleration': ('inverse', 'hybrid'),
           **dict.fromkeys(('choice', 'effort_weights', 'force_weights'), ('inverse', 'hybrid')),
           'stabilisation': ('forward', 'hybrid'), 'proximal': ('forward',)}


def constrained_dynamics(node_state: NodeState, request: ConstrainedDynamics.Request,
                         response: ConstrainedDynamics.Response) -> ConstrainedDynamics.Response:
    """Fill a ConstrainedDynamics response."""
    compute = entry_of(request.question, QUANTITIES)
    refuse_unread(request, READERS)
    state = request_state(node_state, request)
    robot = state.robot
    constraints = constraints_of(state, request)
    if constraints != robot.loops.constraints:
        state = without_compilation(state)
    passive = passive_joints(robot, request.passive_joints, request.all_active)
    if request.project:
        state = _projected(state, request, constraints)
    state, motion = compute(state, request, constraints, passive)
    response.position = convert.floats(state.ordered_position(state.q))
    response.velocity = convert.floats(state.ordered(state.v))
    response.acceleration = convert.floats(state.ordered(motion.a))
    response.effort = convert.floats(state.ordered(motion.tau))
    report = state.robot.constraint_report(state.q, state.v, constraints, passive)
    response.residuals = convert.floats(report.residual)
    fill_report(response, constraints, motion.multipliers, report)
    return state.fill_head(response)


def _inverse(state: RequestState, request: Any, constraints: Constraints,
             passive: tuple[str, ...]) -> tuple[RequestState, Any]:
    robot = state.robot
    a = accelerations(state, request)
    if request.project:
        found = robot.constraint_rows(state.q, state.v, constraints)
        a = _nearest('acceleration', found.A, a, found.gamma, _fixed(state, request), constraints)
    resting = state.entries('effort', request.effort, np.zeros(robot.nv))
    return state, robot.constrained_inverse_dynamics(
        state.q, state.v, a, constraints, passive, resting,
        *_choice(state, request, constraints), *wrenches(state, request))


def _forward(state: RequestState, request: Any, constraints: Constraints,
             passive: tuple[str, ...]) -> tuple[RequestState, Any]:
    state, tau = efforts(state, request, needed=actuated_dofs(state.robot.model, passive))
    rates = stabilisation(request)
    return state, state.robot.constrained_forward_dynamics(
        state.q, state.v, tau, constraints, wrenches_or_none(state, request), rates,
        request.proximal or None)


def _hybrid(state: RequestState, request: Any, constraints: Constraints,
            passive: tuple[str, ...]) -> tuple[RequestState, Any]:
    actuated = actuated_dofs(state.robot.model, passive)
    given = given_accelerations(state, request)
    for k in state.selection.others:  # of joints that are not named, passive ones have effort zero
        place = state.robot.model.joints[k].v
        given[place] = actuated[place]
    a = accelerations(state, request)
    state, tau = efforts(state, request, needed=~given & actuated)
    return state, state.robot.constrained_hybrid_dynamics(
        state.q, state.v, a, tau, given, constraints, wrenches_or_none(state, request),
        stabilisation(request), *_choice(state, request, constraints))


def _choice(state: RequestState, request: Any, constraints: Constraints) -> tuple[str, Any]:
    """Return (choice, weights) of a request."""
    pair = weights(state, request, len(row_names(constraints)))
    given = any(each is not None for each in pair)
    return request.choice or 'least_force', pair if given else None


QUANTITIES = {'inverse': _inverse, 'forward': _forward, 'hybrid': _hybrid}


def _projected(state: RequestState, request: Any, constraints: Constraints) -> RequestState:
    """Return the state projected onto the constraints."""
    robot = state.robot
    named = tuple(request.joint_names) if len(request.position) else ()
    q = robot.project_configuration(state.q, constraints, named)
    A = robot.constraint_rows(q, state.v, constraints).A
    fixed = _fixed(state, request) if len(request.velocity) else np.zeros(robot.nv, dtype=bool)
    return state._replace(q=q, v=_nearest('velocity', A, state.v, 0.0, fixed, constraints))


def _fixed(state: RequestState, request: Any) -> np.ndarray:
    """Return the degrees of freedom that the request names, (nv,) booleans."""
    fixed = np.zeros(state.robot.nv, dtype=bool)
    for name in request.joint_names:
        fixed[state.robot.model.joint(name).v] = True
    return fixed


def _nearest(field: str, A: np.ndarray, x: np.ndarray, target: np.ndarray | float,
             fixed: np.ndarray, constraints: Constraints) -> np.ndarray:
    """Return y near x with A y + target = 0 and y = x where it is fixed, (nv,)."""
    y = np.array(x)
    y[~fixed] -= np.linalg.lstsq(A[:, ~fixed], A @ x + target, rcond=None)[0]
    residual = np.abs(A @ y + target)
    size = np.abs(A) @ np.abs(y) + np.abs(target)
    if (residual > TOLERANCE * np.maximum(1.0, size)).any():
        worst = row_names(constraints)[int(residual.argmax())]
        raise DynamicsError(f'{field}: the values of the named joints violate the constraints, '
                            f"row '{worst}' by {residual.max():.3g}; name fewer joints")
    return y
