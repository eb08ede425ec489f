"""Complete trajectories of motors by the joints that follow the loops; compute motor efforts."""

import numpy as np

from dynamics_node.constrained.closed_dynamics import LARGEST_GAP
from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.control.closed_loops import ClosedLoops
from dynamics_node.control.spline import MotionSample
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot


def closed_motion(robot: Robot, start: np.ndarray, q: np.ndarray, v: np.ndarray,
                  a: np.ndarray) -> MotionSample:
    """Return the motion of all joints, computed from that of the independent ones.

    The configurations are reached from the start one after the other, on one branch of the loops.

    :param start: (nq,) a configuration as measured: its loops are closed up to LARGEST_GAP.
    :param q, v, a: (N, nq), (N, nv), (N, nv), of which the independent joints are read.
    :raise DynamicsError: the loops are open at the start, cannot be closed on the way, or a
        configuration is singular.
    """
    loops = LoopMotion(robot, start)
    gap = float(loops.gap(start[None])[0])
    if not gap <= LARGEST_GAP:
        raise DynamicsError(f'the loops are open by {gap:.3g} m or rad at the start; expected at '
                            f'most {LARGEST_GAP:g}')
    path = loops.follow(q[:, loops.q_indices], loops.home)
    found = loops.motion(path, v[:, loops.independent], a[:, loops.independent])
    if not found.regular.all():
        raise DynamicsError(f'sample {int(np.argmin(found.regular))} of the trajectory is a '
                            'singular configuration: the motors do not determine its motion')
    return MotionSample(found.q, found.v, found.a)


def motor_efforts(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the efforts of the motors for a motion that keeps the loops, (N, nv).

    Zero at passive joints; the least ones where motors are redundant.
    """
    loops = ClosedLoops(robot)
    return np.array([loops.motor_torques(position, tau)
                     for position, tau in zip(q, robot.inverse_dynamics(q, v, a))])
