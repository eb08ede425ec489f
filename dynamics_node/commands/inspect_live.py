"""The command `inspect-live`: show a running node in the browser."""

import argparse
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from dynamics_node.commands.inspector import add_server_arguments
from dynamics_node.commands.ros_import import import_ros
from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.errors import DynamicsError

if TYPE_CHECKING:
    from dynamics_node.inspector.control_panel import NamedTrajectory

ABOUT = 'Show a running node in the browser: measured state, torques, limits, faults, curves.'
DETAILS = """\
examples:
  %(prog)s
  %(prog)s --node /left/dynamics_node --port 9000
  %(prog)s --allow-control --trajectory excitation.yaml

The page is a process of its own, and subscribes to the topics of the node. It cannot change
anything, unless --allow-control is given: then torques can be enabled, payloads attached, gains
set, the trajectory sent and an identification run, by typing the code that is printed. It needs
viser: pip install 'dynamics_node[inspector]'.

exit code: 130 ended by Ctrl-C, 2 refused
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `inspect-live`."""
    parser = subparsers.add_parser('inspect-live', help='show a running node in the browser',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--node', default='dynamics_node', help='name of the node, with namespace')
    parser.add_argument('--allow-control', action='store_true',
                        help='let the page enable and disable torques, attach payloads, set gains, '
                        'send the trajectory and identify')
    parser.add_argument('--trajectory', metavar='FILE',
                        help='CSV or YAML, as for the command follow: a reference that the page '
                        'may send, with --allow-control; to identify, an excitation trajectory')
    add_server_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    from dynamics_node.inspector.control_guard import new_code
    from dynamics_node.inspector.live_page import Allowed, LivePage
    from dynamics_node.inspector.served_reports import ServedReports
    from dynamics_node.inspector.server import address_of, open_server
    trajectory = trajectory_of(arguments)
    ros, requests, identify = (import_ros(f'dynamics_node.ros.{name}', "the command 'inspect-live'")
                               for name in ('watched_node', 'control_requests',
                                            'identify_requests'))
    reports = ServedReports()
    server = open_server(arguments.host, arguments.port, f'Inspector: {arguments.node}', reports)
    watched = ros.WatchedNode(arguments.node)
    allowed, closing = None, [watched]
    if arguments.allow_control:
        control = requests.ControlRequests(watched.name)
        identifying = identify.IdentifyRequests(watched.name, control)
        allowed = Allowed(control, identifying, new_code(), trajectory)
        closing = [identifying, control, watched]
    try:
        sys.stdout.write(f'{watched.name}: open {address_of(server)} in a browser; Ctrl-C ends\n'
                         + (f'code of the control panel: {allowed.code}\n' if allowed else ''))
        sys.stdout.flush()
        LivePage(server, watched, allowed, reports).run(threading.Event())
    finally:
        server.stop()   # first: no page can request anything of what is closed next
        for each in closing:
            each.close()
    return 0


def trajectory_of(arguments: argparse.Namespace) -> 'NamedTrajectory | None':
    """Return the trajectory that the pages may send; None: none was given."""
    from dynamics_node.identification import read_trajectory
    from dynamics_node.inspector.control_panel import NamedTrajectory
    if arguments.trajectory is None:
        return None
    if not arguments.allow_control:
        raise DynamicsError('--trajectory is given without --allow-control: no page could send it')
    return NamedTrajectory(Path(arguments.trajectory).name, read_trajectory(arguments.trajectory))
