"""What the robot carries, where the earth is, what the joints take: asked and set."""

import numpy as np

from dynamics_node.errors import LONGEST_NAME, DynamicsError
from dynamics_node.model.model import WORLD
from dynamics_node.ros import convert


def set_payload(desk, request, response):
    """Fill a SetPayload response."""
    robot, duration = desk.robot, duration_of(request.transition_time)
    check_payload_name(request.name)
    if request.remove:
        desk.held.remove_payload(request.name, duration)
    else:
        mass, com, tensor = convert.inertia(request.payload)
        if not mass > 0.0:
            raise DynamicsError(f'payload.m is {mass}; expected a positive number of kg. '
                                'To take a payload off, set remove: true')
        robot.model.frame(request.frame)
        desk.held.set_payload(request.name, (request.frame, mass, com, tensor), duration)
    robot, response.model_id = desk.held.settled_robot()
    response.total_mass = robot.total_mass
    response.success = True
    return response


def check_payload_name(name):
    """Refuse a name that is empty, or too long to be listed."""
    if not name:
        raise DynamicsError('name is empty; a payload is known by its name')
    if len(name) > LONGEST_NAME:
        raise DynamicsError(f'name has {len(name)} characters; expected at most {LONGEST_NAME}')


def duration_of(message):
    """Return the seconds of a transition_time."""
    seconds = convert.nanoseconds(message) * 1e-9
    if seconds < 0.0:
        raise DynamicsError(f'transition_time is {seconds:g} s; expected zero or more')
    return seconds


def list_payloads(desk, _, response):
    """Fill a ListPayloads response."""
    carried = desk.robot.payloads
    held = desk.held.payloads
    response.names = list(held)
    response.frames = [load.frame for load, _ in held.values()]
    response.payloads = [convert.inertia_message(load) for load, _ in held.values()]
    response.fraction = [share for _, share in held.values()]
    response.payload_mass = float(sum(load.mass for load in carried.values()))
    response.success = True
    return response


def set_gravity(desk, request, response):
    """Fill a SetGravity response."""
    robot, frame = desk.robot, request.gravity.header.frame_id
    gravity = convert.xyz(request.gravity.vector)
    if not np.isfinite(gravity).all():
        raise DynamicsError(f'gravity.vector is {gravity.tolist()}; every entry must be finite')
    if not gravity.any():  # an empty request must not make an arm weightless
        raise DynamicsError('gravity.vector is zero; expected e.g. 0 0 -9.81. For a weightless '
                            "robot set the parameter 'gravity'")
    if frame:
        q = _configuration_under(desk, robot, frame)
        gravity = robot.frame_pose(q, frame)[:3, :3] @ gravity
    desk.held.set_gravity(gravity)
    response.gravity = convert.vector3(desk.robot.gravity)
    response.model_id = desk.held.settled_robot()[1]
    response.success = True
    return response


def _configuration_under(desk, robot, frame):
    """Return q as measured for the joints that carry a frame; where the others are is no matter."""
    model, body = robot.model, robot.model.frame(frame).body
    carriers = [body, *model.ancestors(body)] if body != WORLD else []
    places = [model.bodies[i].q for i in carriers]
    desk.catch_up()
    desk.stamp_of([k for k, joint in enumerate(model.joints) if joint.q in places], 'position')
    q = robot.neutral()
    for place in places:
        q[place] = desk.state.q[place]
    return q


def set_friction(desk, request, response):
    """Fill a SetFriction response."""
    choice = desk.choose(request.joint_names)
    names = choice.names[:len(choice.named)]
    changes = {}
    for field in ('damping', 'friction'):
        values = list(getattr(request, field))
        if values and len(values) != len(names):
            raise DynamicsError(f'{field} has {len(values)} entries; expected {len(names)} for the '
                                f'joints {", ".join(names)}, or none')
        changes[field] = dict(zip(names, values))
    desk.held.set_friction(**changes, reset=names if request.reset else ())
    model = desk.robot.model
    response.joint_names = [joint.name for joint in model.joints]
    response.damping = [float(model.damping[joint.v][0]) for joint in model.joints]
    response.friction = [float(model.friction[joint.v][0]) for joint in model.joints]
    response.model_id = desk.held.settled_robot()[1]
    response.success = True
    return response
