"""Load legged robots of example-robot-data and their contact points."""

from dynamics_node import Robot
from dynamics_node.constrained.constraint import Constraint
from support import real_robots

# Name -> contacts that hold the feet wherever they are.
CONTACTS = {
    'solo12': [Constraint(f'{leg}_contact', 'point_contact', f'{leg}_FOOT')
               for leg in ('FL', 'FR', 'HL', 'HR')],
    'bolt': [Constraint(f'{leg}_contact', 'point_contact', f'{leg}_FOOT') for leg in ('FL', 'FR')],
    'talos': [Constraint(f'{side}_contact', 'flat_contact', f'{side}_sole_link')
              for side in ('left', 'right')],
}


def example(name):
    """Return the example-robot-data entry of a legged robot."""
    return next(robot for robot in real_robots.ROBOTS if str(robot) == name)


def load_legged(name):
    """Return (model, contacts) of a legged robot, free in the world."""
    robot = Robot.from_urdf(example(name).urdf, base='floating', friction=False, compile=False)
    return robot.model, CONTACTS[name]
