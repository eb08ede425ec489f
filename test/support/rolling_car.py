"""A car on one wheel that rolls on the plane: it moves forwards and turns, but not sideways."""

import numpy as np

from dynamics_node import Constraint, Robot, RobotLink

RADIUS = 0.1   # [m]


def placed(*position):
    """Return the pose at a position, 4 x 4."""
    T = np.eye(4)
    T[:3, 3] = position
    return T


def rolling_car():
    """Return the Robot, coordinates x, y, heading, angle of the wheel."""
    inertia = np.diag([0.02, 0.03, 0.04])
    links = [RobotLink('base'),
             RobotLink('x', 'base', 'prismatic', placed(0.0, 0.0, RADIUS), (1, 0, 0)),
             RobotLink('y', 'x', 'prismatic', placed(0.0, 0.0, 0.0), (0, 1, 0)),
             RobotLink('car', 'y', 'continuous', placed(0.0, 0.0, 0.0), (0, 0, 1), mass=3.0,
                       inertia=inertia),
             RobotLink('wheel', 'car', 'continuous', placed(0.0, 0.0, 0.0), (0, 1, 0), mass=1.0,
                       inertia=inertia)]
    return Robot.from_links(links, compile=False, loops=[
        Constraint('roll', 'rolling_wheel', 'wheel', radius=RADIUS)])
