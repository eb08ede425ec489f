"""Read whole-body references from bytes, and check them."""

from __future__ import annotations

from dynamics_node.control.whole_body_reference import (
    WholeBodyReference,
    constraints_with,
    default_bounds,
)
from dynamics_node.errors import DynamicsError
from dynamics_node.msg import WholeBodyReference as WholeBodyMessage
from dynamics_node.robot.robot import Robot
from dynamics_node.ros import convert
from dynamics_node.ros.frame_prefix import remove_prefix
from dynamics_node.ros.parameters.torque import TorqueParameters, whole_body_effort
from dynamics_node.ros.services.task_request import bound_of, one_or_several, task_of
from dynamics_node.ros.torque.task_message import read_message

SHORTEST, LONGEST = 0.001, 10.0   # [s] of a blend, as torque.blend_time


def read_whole_body(data: bytes, frame_prefix: str) -> WholeBodyMessage:
    """Return the message of serialised bytes, frames with the names of the URDF.

    :raise DynamicsError: the message is too large, or the bytes are no such message.
    """
    message = read_message(data, WholeBodyMessage)
    remove_prefix(frame_prefix, message)
    return message


def reference_of(message: WholeBodyMessage, robot: Robot, p: TorqueParameters,
                 now: float) -> WholeBodyReference:
    """Return the checked reference of a message.

    :param now: [s] from which it is followed.
    :raise DynamicsError: which field is wrong, and what is valid.
    """
    if message.header.frame_id:
        raise DynamicsError(f"header.frame_id is '{message.header.frame_id}'; expected '': all "
                            'numbers are in the axes of the root')
    contacts = tuple(message.contacts)
    constraints = constraints_with(robot, contacts)
    bounds = tuple(bound_of(each, one_or_several(each.limit), constraints)
                   for each in message.bounds)
    return WholeBodyReference(
        contacts, tuple(task_of(each, each.joints, each.value) for each in message.tasks),
        bounds or default_bounds(whole_body_effort(robot, p)), now)


def blend_of(message: WholeBodyMessage, p: TorqueParameters) -> float:
    """Return the duration of the blend of a message [s]."""
    if message.blend == 0.0:
        return p.blend_time
    if not SHORTEST <= message.blend <= LONGEST:
        raise DynamicsError(f'blend is {message.blend:g}; expected {SHORTEST:g} to {LONGEST:g} s, '
                            'or 0 for torque.blend_time')
    return message.blend


def check_age(message: WholeBodyMessage, now: int, p: TorqueParameters) -> None:
    """Raise a DynamicsError if a stamp is further from now [ns] than torque.task_timeout."""
    stamp = convert.nanoseconds(message.header.stamp)
    age = (now - stamp) / convert.BILLION
    if stamp and abs(age) > p.task_timeout:
        raise DynamicsError(f'header.stamp is {age:.3g} s old; expected at most '
                            f'{p.task_timeout:g} s (torque.task_timeout) from now, or zero')
