"""Make arms in the x-y plane: links along x, joints about z, gravity along -y."""

import numpy as np

from dynamics_node import Robot, RobotLink

G = 9.81   # [m/s^2]


def planar_arm(lengths, masses, centers, inertias, payload=0.0):
    """Return the Robot; its links are l1, l2, .., and 'tip' is the end of the last one.

    :param centers: of mass, along each link from its joint [m].
    :param inertias: about the centres of mass and the axis z [kg m^2].
    :param payload: point mass at the tip [kg].
    """
    links = [RobotLink('base')]
    starts = (0.0, *lengths[:-1])
    for k, (x, m, c, i) in enumerate(zip(starts, masses, centers, inertias), start=1):
        links.append(RobotLink(f'l{k}', links[-1].name, 'continuous', shifted(x), mass=m,
                               com=(c, 0.0, 0.0), inertia=np.diag([0.0, i, i])))
    links.append(RobotLink('tip', links[-1].name, placement=shifted(lengths[-1]), mass=payload))
    return Robot.from_links(links, 'planar_arm', gravity=(0.0, -G, 0.0), compile=False)


def arm_of_rods(lengths, masses, payload=0.0):
    """Return the planar arm of thin uniform rods."""
    lengths, masses = np.asarray(lengths), np.asarray(masses)
    return planar_arm(lengths, masses, lengths / 2, masses * lengths ** 2 / 12, payload)


def shifted(x):
    """Return the pose at x on the x axis, (4, 4)."""
    T = np.eye(4)
    T[0, 3] = x
    return T


def joints_and_tip(arm, q):
    """Return the points (n + 1, 2) from the first joint to the tip."""
    return np.array([arm.frame_pose(q, name)[:2, 3] for name in (*arm.body_names, 'tip')])
