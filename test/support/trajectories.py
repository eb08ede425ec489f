"""Convert arrays to JointTrajectory messages and back."""

import numpy as np

QUANTITIES = ('positions', 'velocities', 'accelerations')


def trajectory(names, times, like=None, **columns):
    """Return a JointTrajectory; each column is (points, joints), `like` its header."""
    from builtin_interfaces.msg import Duration
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
    points = []
    for k, time in enumerate(times):
        ns = round(time * 1e9)
        points.append(JointTrajectoryPoint(
            time_from_start=Duration(sec=ns // 10**9, nanosec=ns % 10**9),
            **{field: [float(x) for x in rows[k]] for field, rows in columns.items()}))
    message = JointTrajectory(joint_names=list(names), points=points)
    if like is not None:
        message.header = like
    return message


def column(message, field):
    """Return one quantity of all points, (points, joints)."""
    return np.array([getattr(point, field) for point in message.points])
