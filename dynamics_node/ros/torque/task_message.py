"""What a TaskReference message asks for, as Drive.follow_task takes it."""

import numpy as np

from dynamics_node.ros.convert import xyz, xyzw


def task_of(message):
    """Return the arguments of Drive.follow_task, but for the start."""
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


def _six(linear, angular):
    return np.concatenate([xyz(linear), xyz(angular)])
