"""Read a TaskReference message, and convert it to the arguments of TorquePipeline.follow_task."""

from typing import Any

import numpy as np
from geometry_msgs.msg import Vector3
from rclpy.serialization import deserialize_message

from dynamics_node.errors import DynamicsError
from dynamics_node.msg import TaskReference
from dynamics_node.ros.convert import xyz, xyzw
from dynamics_node.ros.torque.joint_trajectory_bytes import check_size

LARGEST = 10_000   # bytes of a message: one has about 500


def read_task(data: bytes) -> TaskReference:
    """Return the message of serialised bytes.

    :raise DynamicsError: the message is too large, or the bytes are no such message.
    """
    check_size(data, LARGEST)
    try:
        return deserialize_message(data, TaskReference)
    except Exception as error:  # rclpy documents no exception for bytes that are no such message
        raise DynamicsError(f'the bytes are no TaskReference: {error}') from error


def task_of(message: TaskReference) -> dict[str, Any]:
    """Return the arguments of TorquePipeline.follow_task, except measured state and start."""
    return {
        'frame': message.frame,
        'position': xyz(message.pose.position),
        'orientation': xyzw(message.pose.orientation),
        'twist': _six(message.twist.linear, message.twist.angular),
        'acceleration': _six(message.acceleration.linear, message.acceleration.angular),
        'wrench': _six(message.wrench.force, message.wrench.torque),
        'force_axes': np.array(message.force_axes, dtype=bool),
        'free_axes': np.array(message.free_axes, dtype=bool),
        'axes': xyzw(message.axes),
        'stiffness': message.stiffness,
        'damping': message.damping,
        'seen_from': message.header.frame_id,
    }


def _six(linear: Vector3, angular: Vector3) -> np.ndarray:
    return np.concatenate([xyz(linear), xyz(angular)])
