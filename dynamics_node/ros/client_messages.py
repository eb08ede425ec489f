"""Convert targets, tasks and bounds to messages, for a client."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Quaternion

from dynamics_node import msg
from dynamics_node.ros import convert
from dynamics_node.spatial import so3
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.target import Target, rotation_of
from dynamics_node.task_space.tasks import FIELDS, Task

# parts of a Target -> kind of its FrameTarget
KINDS = {('position', 'orientation'): 'pose', ('position',): 'position',
         ('orientation',): 'orientation', ('axis',): 'axis',
         ('position', 'axis'): 'position_and_axis'}


def frame_target(target: Target | msg.FrameTarget) -> msg.FrameTarget:
    """Return the FrameTarget of a Target; a message is returned unchanged."""
    if not isinstance(target, Target):
        return target
    message = msg.FrameTarget(frame=target.frame,
                              kind=KINDS[tuple(part.kind for part in target.parts)])
    if target.position is not None:
        message.pose.position = convert.point(target.position)
        message.position_weight = float(target.position_weight)
    if target.orientation is not None:
        x, y, z, w = map(float, so3.to_quaternion(rotation_of(target.orientation)))
        message.pose.orientation = Quaternion(x=x, y=y, z=z, w=w)
    if target.axis is not None:
        message.axis = convert.vector3(target.axis)
        message.direction = convert.vector3(target.direction)
    if message.kind != 'position':
        message.rotation_weight = float(target.rotation_weight)
    return message


def task_message(task: Task) -> msg.Task:
    """Return the message of a Task."""
    message = msg.Task(name=task.name, kind=task.kind, level=int(task.level), weight=task.weight)
    for field in FIELDS[task.kind]:
        value = getattr(task, field)
        if field == 'damping':
            value = [value]
        elif field in ('axes', 'joints'):
            value = list(value)
        elif isinstance(value, np.ndarray):
            value = convert.floats(value)
        setattr(message, field, value)
    return message


def bound_message(bound: Bound) -> msg.TaskBound:
    """Return the TaskBound of a Bound."""
    message = msg.TaskBound(kind=bound.kind, level=int(bound.level), sides=int(bound.sides))
    if bound.limit is not None:
        message.limit = convert.floats(np.ravel(np.asarray(bound.limit, dtype=float)))
    if bound.kind == 'joint_limits':
        message.step = float(bound.step)
    message.contacts = list(bound.sizes)
    message.sizes = [float(x) for half in bound.sizes.values() for x in np.ravel(half)]
    return message
