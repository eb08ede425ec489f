"""Convert targets, motions, payloads, tasks and bounds to messages, for a client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Inertia, Quaternion
from numpy.typing import ArrayLike

from dynamics_node import msg
from dynamics_node.ros import convert
from dynamics_node.spatial import so3
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.motion import FrameMotion, Tracking
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


def motion_messages(tasks: FrameMotion | Tracking | Sequence) -> list[msg.MotionTask]:
    """Return the messages of tasks of Robot.joint_velocities: one, a list, or lists by level."""
    tasks = [tasks] if isinstance(tasks, (FrameMotion, Tracking)) else tasks
    ranked = tasks and all(isinstance(level, Sequence) for level in tasks)
    return [_motion_message(task, k) for k, level in enumerate(tasks if ranked else [tasks], 1)
            for task in level]


def _motion_message(task: FrameMotion | Tracking, level: int) -> msg.MotionTask:
    if isinstance(task, Tracking):
        message = msg.MotionTask(kind='tracking', level=level, target=frame_target(task.target),
                                 position_gain=float(task.position_gain),
                                 rotation_gain=float(task.rotation_gain))
        wanted: Mapping[str, Any] = {'linear': task.linear, 'angular': task.angular}
    else:
        wanted = task.wanted
        message = msg.MotionTask(kind='velocity', level=level, frame=task.frame,
                                 parts=list(wanted), weight=float(task.weight))
    for part, velocity in wanted.items():
        setattr(message.twist, part, convert.vector3(velocity))
    return message


def inertia_message(mass: float, com: Sequence[float], inertia: ArrayLike | None) -> Inertia:
    """Return the Inertia of a payload; without an inertia it is a point mass."""
    tensor = np.zeros((3, 3)) if inertia is None else np.asarray(inertia, dtype=float)
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = tensor.tolist()
    return Inertia(m=float(mass), com=convert.vector3(com), ixx=ixx, ixy=ixy, ixz=ixz, iyy=iyy,
                   iyz=iyz, izz=izz)


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
