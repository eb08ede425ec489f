"""The command `inspector`: show a robot in the browser, with the causes of its joint torques."""

import argparse
import sys
import threading
from pathlib import Path

from dynamics_node.commands.inspect import joint_position
from dynamics_node.commands.robot_arguments import (
    add_loops_argument,
    add_robot_arguments,
    configuration_at,
    robot_of,
    source_of,
)
from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.model.urdf_text import urdf_text

ABOUT = 'Show a robot in the browser: torques and their causes, limits, payloads, what-if cases.'
DETAILS = """\
examples:
  %(prog)s robot.urdf
  %(prog)s robot.urdf --at elbow=1.2 --payload tool0=2.5,0,0,0.1 --port 9000
  %(prog)s delta.urdf --loops delta.yaml

Open the printed address in a browser of this machine. Ctrl-C ends the command. It needs viser:
pip install 'dynamics_node[inspector]'.

exit code: 130 ended by Ctrl-C, 2 refused
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `inspector`."""
    parser = subparsers.add_parser('inspector', help='show a robot and its torques in the browser',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    add_robot_arguments(parser)
    add_loops_argument(parser)
    parser.add_argument('--at', metavar='JOINT=POSITION', type=joint_position, action='append',
                        default=[], help='initial position of a joint; default: neutral')
    add_server_arguments(parser)
    parser.set_defaults(run=run)


def add_server_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the web server to a parser."""
    parser.add_argument('--host', default='127.0.0.1',
                        help='address to listen on; default: this machine alone. 0.0.0.0: every '
                        'computer that reaches this one can open the page')
    parser.add_argument('--port', type=int, default=8080,
                        help='port to listen on, the next free one if it is taken; default: 8080')


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    from dynamics_node.inspector.page import InspectorPage
    from dynamics_node.inspector.served_reports import ServedReports
    from dynamics_node.inspector.server import address_of, open_server
    source = source_of(arguments)
    robot = robot_of(arguments, source, compile=True)
    folder = None if isinstance(source, bytes) else Path(source).resolve().parent
    at = configuration_at(robot, robot.neutral(), arguments.at)
    reports = ServedReports()
    server = open_server(arguments.host, arguments.port, f'Inspector: {robot.name}', reports)
    page = InspectorPage(server, robot, urdf_text(source), folder, at, reports)
    sys.stdout.write(f'{robot.name}: open {address_of(server)} in a browser; Ctrl-C ends\n')
    sys.stdout.flush()
    try:
        threading.Event().wait()
    finally:
        page.close()
        server.stop()
    return 0
