"""Test robots from the Denavit-Hartenberg tables of their makers, against their URDFs."""

import numpy as np
from support.differences import relative
from support.real_robots import ROBOTS
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot, RobotLink, links_from_dh

ROUNDED = 1e-10   # the URDF of the UR5 has right angles of twelve digits
ARM = {str(robot): robot for robot in ROBOTS}


def arm(*table, convention):
    """Return a chain of revolute joints with links l0, l1, ..."""
    names = ['base', *(f'l{k}' for k in range(len(table[0])))]
    links = [RobotLink(name, parent, 'revolute', mass=1.0)
             for parent, name in zip(names, names[1:])]
    return Robot.from_links([RobotLink('base'), *links_from_dh(links, *table, convention)],
                            compile=False)


def test_panda_by_the_table_of_its_maker():
    """Franka's table, modified convention, against the URDF of the arm."""
    right = 0.5 * np.pi
    robot = arm([0, 0, 0, 0.0825, -0.0825, 0, 0.088],
                [0, -right, right, right, -right, right, right],
                [0.333, 0, 0.316, 0, 0.384, 0, 0], np.zeros(7), convention='modified')
    panda = Robot.from_urdf(ARM['panda'].urdf, compile=False)
    q = np.random.default_rng(0).normal(size=7)
    for k in range(7):
        expected = panda.frame_pose([*q, 0.0], f'panda_link{k + 1}')
        assert relative(robot.frame_pose(q, f'l{k}'), expected) < EXACT_MATHS


def test_ur5_by_the_table_of_its_maker():
    """Universal Robots' table, standard convention; its base is turned by half a turn."""
    right = 0.5 * np.pi
    robot = arm([0, -0.425, -0.39225, 0, 0, 0],
                [right, 0, 0, right, -right, 0],
                [0.089159, 0, 0, 0.10915, 0.09465, 0.0823], np.zeros(6),
                convention='standard')
    ur5 = Robot.from_urdf(ARM['ur5'].urdf, compile=False)
    q = np.random.default_rng(0).normal(size=6)
    expected = np.diag([-1.0, -1.0, 1.0, 1.0]) @ ur5.frame_pose(q, 'tool0')
    assert relative(robot.frame_pose(q, 'l5'), expected) < ROUNDED
