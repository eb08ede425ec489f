"""Make a small quadruped: a trunk of 8 kg on four legs of three joints each, free in the world."""

import numpy as np

from dynamics_node import Constraint, Robot, RobotLink

LEGS = ('FL', 'FR', 'HL', 'HR')
THIGH, SHANK = 0.22, 0.22                      # [m]
HIPS = {'FL': (0.2, 0.1), 'FR': (0.2, -0.1), 'HL': (-0.2, 0.1), 'HR': (-0.2, -0.1)}   # x, y [m]
BEND = 0.7                                     # [rad] of the hips; the knees bend twice as much


def quadruped():
    """Return the Robot; the links of leg FL are FL_hip, FL_thigh, FL_shank and FL_foot."""
    links = [RobotLink('trunk', mass=8.0, inertia=np.diag([0.03, 0.11, 0.13]))]
    for leg, (x, y) in HIPS.items():
        links += [
            RobotLink(f'{leg}_hip', 'trunk', 'continuous', at(x, y, 0.0), (1.0, 0.0, 0.0),
                      mass=0.5, inertia=4e-4 * np.eye(3)),
            rod(f'{leg}_thigh', f'{leg}_hip', at(0.0, 0.0, 0.0), THIGH, 0.6),
            rod(f'{leg}_shank', f'{leg}_thigh', at(0.0, 0.0, -THIGH), SHANK, 0.2),
            RobotLink(f'{leg}_foot', f'{leg}_shank', placement=at(0.0, 0.0, -SHANK))]
    return Robot.from_links(links, 'quadruped', base='floating', compile=False)


def rod(name, parent, placement, length, mass):
    """Return a link along -z that turns about y."""
    return RobotLink(name, parent, 'continuous', placement, (0.0, 1.0, 0.0), mass=mass,
                     com=(0.0, 0.0, -length / 2),
                     inertia=mass * length ** 2 / 12 * np.diag([1.0, 1.0, 1e-2]))


def at(x, y, z):
    """Return the pose at a point, (4, 4)."""
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def crouched(robot):
    """Return the configuration with bent knees and the feet on the ground, (nq,)."""
    q = robot.neutral()
    q[7:] = np.tile([0.0, BEND, -2.0 * BEND], 4)
    q[2] = -robot.frame_pose(q, 'FL_foot')[2, 3]
    return q


def feet(*legs):
    """Return the contacts of some feet with the ground."""
    return [Constraint(leg, 'point_contact', f'{leg}_foot', friction=0.8) for leg in legs]
