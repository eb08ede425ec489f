"""Which robot does a command speak of? The words on the command line that say it."""

import argparse

from dynamics_node.commands.inspect import joint_position, standard_input
from dynamics_node.robot.robot import Robot


def add_robot_arguments(parser):
    """Let a parser take a URDF, and what is to be known about it besides."""
    parser.add_argument('urdf', help="the file; '-' reads the standard input")
    parser.add_argument('--lock', metavar='JOINT=POSITION', type=joint_position, action='append',
                        default=[], help='hold a joint there [rad or m]; several times at will')
    parser.add_argument('--gravity', metavar='X,Y,Z', type=vector, default=(0.0, 0.0, -9.81),
                        help='towards the earth in the root frame [m/s^2]; --gravity=-9.81,0,0')
    parser.add_argument('--payload', metavar='LINK=KG[,X,Y,Z]', type=load, action='append',
                        default=[], help='what it carries, centre of mass in the link [kg, m]')


def add_loops_argument(parser):
    """Let a parser take what closes the loops of the robot."""
    parser.add_argument('--loops', metavar='FILE', help='what closes the loops, YAML')


def source_of(arguments):
    """Return the URDF: a path, or the bytes of the standard input."""
    return standard_input() if arguments.urdf == '-' else arguments.urdf


def robot_of(arguments, source=None, compile=False, **settings):
    """Return the Robot of what add_robot_arguments has read.

    :param source: what source_of has returned, where that was asked for already.
    """
    robot = Robot.from_urdf(source_of(arguments) if source is None else source,
                            gravity=arguments.gravity, locked=dict(arguments.lock),
                            compile=compile, loops=getattr(arguments, 'loops', None), **settings)
    for k, (frame, mass, com) in enumerate(arguments.payload, 1):
        robot = robot.with_payload(f'payload {k}', frame, mass, com)
    return robot


def load(text):
    """Return (frame, mass, centre of mass) of 'link=kg' or 'link=kg,x,y,z'."""
    frame, _, numbers = text.rpartition('=')
    try:
        mass, *com = map(float, numbers.split(','))
        if frame and len(com) in (0, 3):
            return frame, mass, tuple(com) or (0.0, 0.0, 0.0)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f'{text!r} is not of the form link=2.5 or link=2.5,0,0,0.1')


def vector(text):
    """Return three numbers."""
    try:
        x, y, z = map(float, text.split(','))
    except ValueError:
        raise argparse.ArgumentTypeError(f'{text!r} is not of the form 0,0,-9.81') from None
    return x, y, z
