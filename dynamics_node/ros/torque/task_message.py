"""Convert a TaskReference message to the arguments of TorquePipeline.follow_task."""

from typing import Any

import numpy as np
from geometry_msgs.msg import Vector3

from dynamics_node.msg import TaskReference
from dynamics_node.ros.convert import xyz, xyzw


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
