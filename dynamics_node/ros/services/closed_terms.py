"""Read requests about a closed mechanism; fill the reply of ~/dynamics_terms about one."""

from typing import Any

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.closed_dynamics import ClosedDynamics
from dynamics_node.errors import DynamicsError
from dynamics_node.robot import arguments
from dynamics_node.robot.robot import Robot
from dynamics_node.ros import convert
from dynamics_node.ros.services.constraint_request import without_compilation
from dynamics_node.ros.services.request_state import RequestState


def fill_closed_terms(state: RequestState, request: Any, response: Any) -> RequestState:
    """Fill matrices, torques and transmission; return the state with v of the closed mechanism."""
    state, found = closed_state(state, request, response)
    response.mass_matrix = convert.floats(found.mass_matrix)
    response.coriolis_matrix = convert.floats(found.coriolis_matrix)
    response.coriolis = convert.floats(found.coriolis)
    response.gravity = convert.floats(found.gravity)
    response.friction = convert.floats(found.friction)
    response.transmission = convert.floats(state.ordered(found.transmission.T).T)
    response.transmission_rate = convert.floats(state.ordered(found.transmission_rate.T).T)
    return state


def closed_state(state: RequestState, request: Any,
                 response: Any) -> tuple[RequestState, ClosedDynamics]:
    """Return the state with v of the closed mechanism, and its terms; fill the coordinates."""
    state = closed_request(state, request, response)
    found = state.robot.closed_dynamics(state.q, state.v, coordinates=names_of(request))
    return state._replace(v=found.transmission @ state.v[entries_of(state, response)]), found


def closed_request(state: RequestState, request: Any, response: Any) -> RequestState:
    """Return the state of a request about the closed mechanism; fill the coordinates."""
    response.coordinates = closed_coordinates(state.robot, request)
    # clients that choose other coordinates each time would keep the compiler busy
    return without_compilation(state) if request.coordinates else state


def names_of(request: Any) -> list[str] | None:
    """Return the argument `coordinates` of methods of Robot."""
    return list(request.coordinates) or None


def entries_of(state: RequestState, response: Any) -> list[int]:
    """Return the entries of v of the coordinates in a reply."""
    return [state.robot.dof_names.index(name) for name in response.coordinates]


def closed_coordinates(robot: Robot, request: Any) -> list[str]:
    """Return the names of the coordinates of a request, checked: joints, or joint.axis."""
    refuse_open_tree(robot)
    entries = arguments.check_coordinates(robot.model, names_of(request),
                                          actuated_dofs(robot.model, robot.loops.passive))
    return [robot.dof_names[k] for k in entries]


def refuse_open_tree(robot: Robot) -> None:
    """Refuse a request about the closed mechanism if the robot has no loops."""
    if not robot.loops.constraints:
        raise DynamicsError('closed is true, but the robot has no loops: the parameter '
                            'constraints is empty')
