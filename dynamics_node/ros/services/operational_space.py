"""Serve ~/operational_space: inertia, bias and gravity in the coordinates of links."""

from dynamics_node.algorithms.manipulability import Manipulability
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.closed_terms import closed_state, names_of
from dynamics_node.ros.services.request_state import request_state
from dynamics_node.ros.services.unread_fields import refuse_given
from dynamics_node.srv import OperationalSpace
from dynamics_node.task_space.tasks import AXES


def operational_space(node_state: NodeState, request: OperationalSpace.Request,
                      response: OperationalSpace.Response) -> OperationalSpace.Response:
    """Fill an OperationalSpace response."""
    if not request.closed:
        refuse_given(request, 'coordinates', 'it is read only with closed: true')
    state, frames = request_state(node_state, request), list(request.frames)
    if not frames:
        raise DynamicsError('frames is empty; expected at least one of: '
                            f'{", ".join(state.robot.frame_names)}')
    for frame in frames:
        state.robot.model.frame(frame)  # before anything is computed
    axes = list(request.axes) or list(AXES)
    if request.closed:
        state, _ = closed_state(state, request, response)
    which = {'closed': request.closed, 'coordinates': names_of(request)}
    robot, q, v = state.robot, state.q, state.v
    found = robot.operational_space(q, v, frames, axes, **which)
    response.frames, response.axes, response.rows = frames, axes, len(found.bias)
    response.poses = [convert.pose(robot.frame_pose(q, frame)) for frame in frames]
    response.twists = [convert.twist(robot.jacobian(q, frame) @ v) for frame in frames]
    for name in ('inertia', 'bias', 'gravity', 'bias_acceleration', 'singular_values', 'damping',
                 'directions'):
        setattr(response, name, convert.floats(getattr(found, name)))
    response.lost = found.lost.tolist()
    if request.manipulability:
        _fill_manipulability(robot.manipulability(q, frames, axes, **which), response)
    J, inverse, null_space = found.jacobian, found.consistent_inverse, found.null_space
    if not request.closed:  # coordinates have an order of their own
        J, inverse = state.ordered(J), state.ordered(inverse.T).T
        null_space = state.ordered_matrix(null_space)
    response.jacobian, response.consistent_inverse, response.null_space = (
        convert.floats(matrix) for matrix in (J, inverse, null_space))
    return state.fill_head(response)


def _fill_manipulability(found: Manipulability, response: OperationalSpace.Response) -> None:
    for name in ('mobility', 'velocity_axes', 'velocity_radii', 'dynamic_axes', 'dynamic_radii'):
        setattr(response, name, convert.floats(getattr(found, name)))
    for name in ('velocity_measure', 'dynamic_measure', 'condition_number'):
        setattr(response, name, float(getattr(found, name)))
