"""Read the robot of a command from the command line: URDF, locked joints, gravity, loads."""

import argparse
from collections.abc import Iterable

import numpy as np

from dynamics_node.commands.inspect import joint_position, standard_input
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a robot to a parser."""
    parser.add_argument('urdf', help="URDF file; '-' reads the standard input")
    parser.add_argument('--lock', metavar='JOINT=POSITION', type=joint_position, action='append',
                        default=[], help='lock a joint at a position [rad or m]; may be repeated')
    parser.add_argument('--gravity', metavar='X,Y,Z', type=vector, default=(0.0, 0.0, -9.81),
                        help='gravity in the root frame [m/s^2]; example: --gravity=-9.81,0,0')
    parser.add_argument('--payload', metavar='LINK=KG[,X,Y,Z]', type=load, action='append',
                        default=[], help='payload and its centre of mass in the link frame [kg, '
                        'm]; may be repeated')
    parser.add_argument('--springs', metavar='FILE',
                        help='YAML file with springs, dampers and linear actuators')


def add_loops_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument --loops to a parser."""
    parser.add_argument('--loops', metavar='FILE', help='YAML file with the loop constraints')


def source_of(arguments: argparse.Namespace) -> str | bytes:
    """Return the URDF: a path, or the bytes of the standard input."""
    return standard_input() if arguments.urdf == '-' else arguments.urdf


def robot_of(arguments: argparse.Namespace, source: str | bytes | None = None,
             compile: bool = False, base: str = 'fixed') -> Robot:
    """Return the Robot of the arguments of add_robot_arguments.

    :param source: result of source_of, if known: the standard input can be read only once.
    """
    robot = Robot.from_urdf(source_of(arguments) if source is None else source,
                            gravity=arguments.gravity, locked=dict(arguments.lock),
                            compile=compile, loops=getattr(arguments, 'loops', None), base=base)
    if arguments.springs is not None:
        robot = robot.with_springs(arguments.springs)
    for k, (frame, mass, com) in enumerate(arguments.payload, 1):
        robot = robot.with_payload(f'payload {k}', frame, mass, com)
    return robot


def configuration_at(robot: Robot, q: np.ndarray,
                     positions: Iterable[tuple[str, float]]) -> np.ndarray:
    """Return q with some joints at other positions, (nq,).

    :param positions: (joint, position) of each argument --at.
    """
    q = q.copy()
    for name, position in positions:
        joint = robot.model.joint(name)
        if joint.q.stop - joint.q.start != 1:
            raise DynamicsError(f"--at: joint '{name}' is {joint.kind}; expected one coordinate")
        q[joint.q] = position
    return q


def load(text: str) -> tuple[str, float, tuple[float, ...]]:
    """Return (frame, mass, centre of mass) of 'link=kg' or 'link=kg,x,y,z'."""
    frame, _, numbers = text.rpartition('=')
    try:
        mass, *com = map(float, numbers.split(','))
        if frame and len(com) in (0, 3):
            return frame, mass, tuple(com) or (0.0, 0.0, 0.0)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f'{text!r} is not of the form link=2.5 or link=2.5,0,0,0.1')


def vector(text: str) -> tuple[float, float, float]:
    """Return (x, y, z) of 'x,y,z'."""
    try:
        x, y, z = map(float, text.split(','))
    except ValueError:
        raise argparse.ArgumentTypeError(f'{text!r} is not of the form 0,0,-9.81') from None
    return x, y, z
