"""Find links that touch each other along a trajectory that is going to be sent to a robot."""

import os

import numpy as np

from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.identification.trajectory_files import TimedPoints
from dynamics_node.inspector.self_collision import SelfCollisions, self_collisions
from dynamics_node.reports.sampled_motion import sampled_motion
from dynamics_node.robot.robot import Robot

PERIOD = 0.02    # [s] between the configurations that are checked, besides the points
NOT_CLOSED = 'self-collisions are not checked: the loops do not close along the trajectory'


def trajectory_collisions(robot: Robot, urdf: str, points: TimedPoints,
                          urdf_folder: str | os.PathLike | None = None) -> SelfCollisions:
    """Return the SelfCollisions of a robot along a trajectory.

    Joints that the trajectory lacks are in the neutral configuration; those that loops determine
    follow.

    :param urdf: text of the URDF.
    :param urdf_folder: where its meshes are looked up; None: only in the packages of ROS.
    """
    motion = sampled_motion(robot, *points, check_period=PERIOD)
    times, q = motion.times, motion.q
    if robot.loops.constraints:
        q, converged, _ = LoopMotion(robot).close_loops(q)
        if not converged.all():
            return SelfCollisions((), (NOT_CLOSED,))
    distinct = np.append(True, np.diff(times) > 0.0)
    return self_collisions(robot, urdf, times[distinct], q[distinct], urdf_folder)
