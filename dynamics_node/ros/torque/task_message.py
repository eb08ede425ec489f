"""Read task references from bytes, and convert them to arguments of TorquePipeline.follow_task."""

from typing import Any

import numpy as np
from geometry_msgs.msg import Vector3

from dynamics_node.errors import DynamicsError
from dynamics_node.msg import TaskReference
from dynamics_node.ros import serialized
from dynamics_node.ros.convert import xyz, xyzw
from dynamics_node.ros.torque.joint_trajectory_bytes import check_size

LARGEST = 10_000   # bytes of a message: one has about 500


def read_message(data: bytes, kind: type) -> Any:
    """Return the message of serialised bytes.

    :raise DynamicsError: the message is too large, or the bytes are no such message.
    """
    check_size(data, LARGEST)
    try:
        return serialized.read_message(data, kind)
    except Exception as error:  # rclpy documents no exception for bytes that are no such message
        raise DynamicsError(f'the bytes are no {kind.__name__}: {error}') from error


def read_task(data: bytes) -> TaskReference:
    """Return the TaskReference of serialised bytes, see read_message."""
    return read_message(data, TaskReference)


def task_of(message: TaskReference) -> dict[str, Any]:
    """Return the arguments of TorquePipeline.follow_task, except measured state and start."""
    return {
        'frame': message.frame,
        'position': xyz(message.pose.position),
        'orientation': xyzw(message.pose.orientation),
        'twist': six(message.twist.linear, message.twist.angular),
        'acceleration': six(message.acceleration.linear, message.acceleration.angular),
        'wrench': six(message.wrench.force, message.wrench.torque),
        'force_axes': np.array(message.force_axes, dtype=bool),
        'free_axes': np.array(message.free_axes, dtype=bool),
        'axes': xyzw(message.axes),
        'stiffness': message.stiffness,
        'damping': message.damping,
        'seen_from': message.header.frame_id,
    }


def six(linear: Vector3, angular: Vector3) -> np.ndarray:
    """Return (linear, angular), or (force, torque), (6,)."""
    return np.concatenate([xyz(linear), xyz(angular)])
