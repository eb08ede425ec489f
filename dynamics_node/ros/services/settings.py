"""Serve ~/set_payload, ~/list_payloads, ~/set_gravity and ~/set_friction."""

import numpy as np
from builtin_interfaces.msg import Duration

from dynamics_node.errors import DynamicsError
from dynamics_node.model.friction_terms import FrictionTerms
from dynamics_node.model.model import WORLD
from dynamics_node.robot.robot import Robot
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.unread_fields import refuse_given
from dynamics_node.srv import ListPayloads, SetFriction, SetGravity, SetPayload

FRICTION = ('damping', 'friction', *FrictionTerms._fields)   # fields of SetFriction


def set_payload(node_state: NodeState, request: SetPayload.Request,
                response: SetPayload.Response) -> SetPayload.Response:
    """Fill a SetPayload response."""
    robot, duration = node_state.robot, duration_of(request.transition_time)
    check_payload_name(request.name)
    if request.remove:
        for field in ('frame', 'payload'):
            refuse_given(request, field, 'remove: true does not read it')
        node_state.current_robot.remove_payload(request.name, duration)
    else:
        mass, com, tensor = convert.inertia(request.payload)
        if not mass > 0.0:
            raise DynamicsError(f'payload.m is {mass}; expected a positive number of kg. '
                                'To remove a payload, set remove: true')
        robot.model.frame(request.frame)
        node_state.current_robot.set_payload(
            request.name, (request.frame, mass, com, tensor), duration)
    robot, response.model_id = node_state.current_robot.settled_robot()
    response.total_mass = robot.total_mass
    response.success = True
    return response


def check_payload_name(name: str) -> None:
    """Refuse an empty name."""
    if not name:
        raise DynamicsError('name is empty; expected the name of the payload')


def duration_of(message: Duration) -> float:
    """Return the transition_time of a request [s]."""
    seconds = convert.nanoseconds(message) * 1e-9
    if seconds < 0.0:
        raise DynamicsError(f'transition_time is {seconds:g} s; expected zero or more')
    return seconds


def list_payloads(node_state: NodeState, _: ListPayloads.Request,
                  response: ListPayloads.Response) -> ListPayloads.Response:
    """Fill a ListPayloads response."""
    carried = node_state.robot.payloads   # with those in transition
    attached = node_state.current_robot.payloads
    response.names = list(attached)
    response.frames = [payload.frame for payload, _ in attached.values()]
    response.payloads = [convert.inertia_message(payload) for payload, _ in attached.values()]
    response.fraction = [share for _, share in attached.values()]
    response.payload_mass = float(sum(payload.mass for payload in carried.values()))
    response.success = True
    return response


def set_gravity(node_state: NodeState, request: SetGravity.Request,
                response: SetGravity.Response) -> SetGravity.Response:
    """Fill a SetGravity response."""
    robot, frame = node_state.robot, request.gravity.header.frame_id
    gravity = convert.xyz(request.gravity.vector)
    if not np.isfinite(gravity).all():
        raise DynamicsError(f'gravity.vector is {gravity.tolist()}; every entry must be finite')
    if not gravity.any():  # an empty request must not switch gravity off
        raise DynamicsError('gravity.vector is zero; expected e.g. 0 0 -9.81. For a weightless '
                            "robot set the parameter 'gravity'")
    if frame:
        q = _configuration_under(node_state, robot, frame)
        gravity = robot.frame_pose(q, frame)[:3, :3] @ gravity
    node_state.current_robot.set_gravity(gravity)
    response.gravity = convert.vector3(node_state.robot.gravity)
    response.model_id = node_state.current_robot.settled_robot()[1]
    response.success = True
    return response


def _configuration_under(node_state: NodeState, robot: Robot, frame: str) -> np.ndarray:
    """Return q as measured for the joints that carry a frame, neutral elsewhere."""
    model, body = robot.model, robot.model.frame(frame).body
    carriers = [body, *model.ancestors(body)] if body != WORLD else []
    places = [model.bodies[i].q for i in carriers]
    measured = node_state.snapshot()
    node_state.age_limit.stamp_of(
        measured, [k for k, joint in enumerate(model.joints) if joint.q in places], 'position')
    q = robot.neutral()
    for place in places:
        q[place] = measured.q[place]
    return q


def set_friction(node_state: NodeState, request: SetFriction.Request,
                 response: SetFriction.Response) -> SetFriction.Response:
    """Fill a SetFriction response."""
    selection = node_state.current_robot.select_joints(request.joint_names)
    names = selection.names[:len(selection.named)]
    changes = {}
    for field in FRICTION:
        values = list(getattr(request, field))
        if values and len(values) != len(names):
            raise DynamicsError(f'{field} has {len(values)} entries; expected {len(names)} for the '
                                f'joints {", ".join(names)}, or none')
        changes[field] = dict(zip(names, values))
    node_state.current_robot.set_friction(**changes, reset=names if request.reset else ())
    model = node_state.robot.model
    response.joint_names = [joint.name for joint in model.joints]
    further = model.friction_terms or FrictionTerms.none(model.nv, model.friction_speed)
    for field, each in zip(FRICTION, (model.damping, model.friction, *further)):
        setattr(response, field, [float(each[joint.v][0]) for joint in model.joints])
    response.model_id = node_state.current_robot.settled_robot()[1]
    response.success = True
    return response
