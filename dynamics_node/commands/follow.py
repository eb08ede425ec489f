"""The command `follow`: send a trajectory from a file to the topic `~/reference` of a node."""

import argparse
import sys

from dynamics_node.commands.ros_import import import_ros
from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.errors import DynamicsError

ABOUT = 'Send a trajectory from a file to a running node, as its reference.'
DETAILS = """\
examples:
  %(prog)s excitation.yaml
  %(prog)s motion.csv --node /left/dynamics_node

Torques must be enabled in a mode that follows a reference. The node refuses a trajectory that does
not begin where the robot is; the reason is in its log.

exit code: 0 sent, 2 refused, or no such node
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `follow`."""
    parser = subparsers.add_parser('follow', help='send a trajectory to a running node',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('trajectory', help='CSV, or YAML of a trajectory_msgs/JointTrajectory')
    parser.add_argument('--node', default='dynamics_node', help='name of the node, with namespace')
    parser.add_argument('--timeout', type=float, default=10.0, help='greatest time to wait [s]')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read the file and send it; return the exit code."""
    from dynamics_node.identification import read_trajectory
    points = read_trajectory(arguments.trajectory)
    ros = import_ros('dynamics_node.ros.send_reference', "the command 'follow'")
    try:
        topic = ros.send_reference(points, arguments.node, arguments.timeout)
    except TimeoutError as error:
        raise DynamicsError(str(error)) from None
    sys.stdout.write(f'{len(points.times)} points were sent to {topic}\n')
    return 0
