"""Make a quadruped on four feet, in random states, with tasks."""

from functools import lru_cache

import numpy as np

from dynamics_node import Robot
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.tasks import Task
from support.real_robots import ROBOTS

FRICTION, TORQUE = 0.6, 2.7
FEET = tuple(Constraint(f'{leg}_contact', 'point_contact', f'{leg}_FOOT', friction=FRICTION)
             for leg in ('FL', 'FR', 'HL', 'HR'))
BOUNDS = (Bound('torque', limit=TORQUE), Bound('friction'), Bound('acceleration', limit=300.0))


@lru_cache(maxsize=1)
def solo12():
    path = next(robot.path for robot in ROBOTS if str(robot) == 'solo12')
    return Robot.from_urdf(path, base='floating', friction=False, compile=False)


def state(seed, speed=0.3):
    """Return (q, v) with bent knees, the feet at rest."""
    robot, rng = solo12(), np.random.default_rng(seed)
    q = robot.integrate(robot.neutral(), rng.uniform(-0.15, 0.15, robot.nv))
    q[7:] += np.tile([0.0, 0.8, -1.6], 4) * np.repeat([1.0, 1.0, -1.0, -1.0], 3)
    return q, robot.project_velocity(q, speed * rng.normal(size=robot.nv), FEET)


def tasks(q, seed, levels=(1, 1, 1), violence=1.0):
    """Return tasks for the base, the joints, and the torques and forces, each of its level."""
    rng, robot = np.random.default_rng(seed + 1000), solo12()
    to = robot.frame_pose(q, 'base_link')[:3, 3] + 0.02 * violence * rng.normal(size=3)
    return (Task('base', 'frame', levels[0], frame='base_link', position=(*to, 0.0, 0.0, 0.0, 1.0),
                 acceleration=violence * rng.normal(size=6)),
            Task('posture', 'posture', levels[1], 0.01, position=q[7:], stiffness=10.0),
            Task('torque', 'torque', levels[2], 1e-4), Task('force', 'force', levels[2], 1e-4))


def stacked(robot, q, v, found):
    """Return (M, h, rows of the contacts, forces on end)."""
    return (robot.mass_matrix(q), robot.bias_torque(q, v), robot.constraint_rows(q, v, FEET),
            np.concatenate(list(found.forces.values())))
