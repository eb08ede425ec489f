"""The command `follow`: send a trajectory from a file to the topic `~/reference` of a node."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dynamics_node.commands.ros_import import import_ros
from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.errors import DynamicsError

if TYPE_CHECKING:   # imported only when the command runs
    from dynamics_node.identification.trajectory_files import TimedPoints

ABOUT = 'Send a trajectory from a file to a running node, as its reference.'
DETAILS = """\
examples:
  %(prog)s excitation.yaml
  %(prog)s motion.csv --node /left/dynamics_node
  %(prog)s motion.csv --urdf robot.urdf

Torques must be enabled in a mode that follows a reference. The node refuses a trajectory that does
not begin where the robot is; the reason is in its log. With --urdf the trajectory is not sent if
links of the robot would touch each other along it, or if links cannot be checked because their
meshes are not found; --force sends it nevertheless.

exit code: 0 sent, 2 refused, or no such node
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `follow`."""
    parser = subparsers.add_parser('follow', help='send a trajectory to a running node',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('trajectory', help='CSV, or YAML of a trajectory_msgs/JointTrajectory')
    parser.add_argument('--node', default='dynamics_node', help='name of the node, with namespace')
    parser.add_argument('--urdf', metavar='FILE', help='URDF of the robot: name links that would '
                        'touch each other along the trajectory, with the time')
    parser.add_argument('--force', action='store_true',
                        help='with --urdf: send it although links would touch or are not checked')
    parser.add_argument('--timeout', type=float, default=10.0, help='greatest time to wait [s]')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read the file and send it; return the exit code."""
    from dynamics_node.identification import read_trajectory
    if arguments.force and arguments.urdf is None:
        raise DynamicsError('--force is given without --urdf; expected both, or neither: without '
                            '--urdf nothing is checked')
    points = read_trajectory(arguments.trajectory)
    if arguments.urdf is not None:
        _check(arguments, points)
    ros = import_ros('dynamics_node.ros.send_reference', "the command 'follow'")
    try:
        topic = ros.send_reference(points, arguments.node, arguments.timeout)
    except TimeoutError as error:
        raise DynamicsError(str(error)) from None
    sys.stdout.write(f'{len(points.times)} points were sent to {topic}\n')
    return 0


def _check(arguments: argparse.Namespace, points: 'TimedPoints') -> None:
    """Write warnings about links that touch or are not checked; refuse such a trajectory."""
    from dynamics_node.inspector.trajectory_check import trajectory_collisions
    from dynamics_node.model.urdf_text import urdf_text
    from dynamics_node.robot.robot import Robot
    robot = Robot.from_urdf(arguments.urdf, compile=False)
    found = trajectory_collisions(robot, urdf_text(arguments.urdf), points,
                                  Path(arguments.urdf).resolve().parent)
    sys.stdout.write(''.join(f'warning: {text}\n' for text in found.warnings))
    reasons = [*map(str, found.found), *found.notes]
    if reasons and not arguments.force:
        raise DynamicsError(f'{reasons[0]}: the trajectory is not sent; --force sends it')
