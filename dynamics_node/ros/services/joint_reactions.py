"""Serve ~/joint_reactions: wrenches of joints and sensors, accelerations of links."""

from collections.abc import Iterator

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.request_fields import accelerations, wrenches_or_none
from dynamics_node.ros.services.request_state import request_state
from dynamics_node.srv import JointReactions


def joint_reactions(node_state: NodeState, request: JointReactions.Request,
                    response: JointReactions.Response) -> JointReactions.Response:
    """Fill a JointReactions response."""
    sensors = list(_sensors(request))
    state = request_state(node_state, request)
    robot, q, v, local = state.robot, state.q, state.v, request.local
    a = accelerations(state, request)
    forces = wrenches_or_none(state, request)
    carried = [robot.sensor_wrench(q, v, a, link, frame, forces, local) for link, frame in sensors]
    found = robot.joint_reactions(q, v, a, forces, local)
    response.joints = [body.joint_name for body in robot.model.bodies]
    response.frames = list(robot.body_names)
    response.wrenches = [convert.wrench(F) for F in found.wrenches]
    response.accelerations = [convert.accel(each) for each in found.accelerations]
    response.sensor_wrenches = [convert.wrench(F) for F in carried]
    return state.fill_head(response)


def _sensors(request: JointReactions.Request) -> Iterator[tuple[str, str]]:
    """Return (link, frame of its wrench) of each sensor."""
    links, frames = request.sensor_links, request.sensor_frames or request.sensor_links
    if len(frames) != len(links):
        raise DynamicsError(f'sensor_frames has {len(frames)} entries; expected {len(links)}, one '
                            'per entry of sensor_links, or none')
    return zip(links, frames)
