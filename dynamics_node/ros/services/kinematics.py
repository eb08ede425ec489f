"""Where links are, how they move, and how the joints move them."""

import numpy as np

from dynamics_node.ros import convert
from dynamics_node.ros.services.request_state import one_state, request_state


def kinematics(desk, request, response):
    """Fill a Kinematics response."""
    case = one_state(request_state(desk, request))
    robot, q, v, local = case.robot, case.q, case.v, request.local
    frames = list(request.frames) or list(robot.frame_names)
    for frame in frames:
        robot.model.frame(frame)  # before anything is computed
    response.frames = frames
    response.poses = [convert.pose(robot.frame_pose(q, frame)) for frame in frames]
    response.twists = [convert.twist(robot.frame_twist(q, v, frame)) for frame in frames]
    if request.jacobians:
        response.jacobians = _flat(case, [robot.jacobian(q, frame, local) for frame in frames])
    if request.jacobian_rates:
        response.jacobian_rates = _flat(case, [robot.jacobian_rate(q, v, frame, local)
                                               for frame in frames])
    return case.head(response)


def _flat(case, matrices):
    return convert.floats(case.ordered(np.array(matrices)))
