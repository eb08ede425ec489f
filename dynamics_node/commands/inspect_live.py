"""The command `inspect-live`: show a running node in the browser."""

import argparse
import sys
import threading

from dynamics_node.commands.inspector import add_server_arguments
from dynamics_node.commands.ros_import import import_ros
from dynamics_node.commands.subparsers import Subparsers

ABOUT = 'Show a running node in the browser: measured state, torques, limits, faults, curves.'
DETAILS = """\
examples:
  %(prog)s
  %(prog)s --node /left/dynamics_node --port 9000

The page is a process of its own, and subscribes to what the node publishes. It cannot change
anything, unless --allow-control is given: then torques can be enabled and payloads attached by
typing the code that is printed. It needs viser: pip install 'dynamics_node[inspector]'.

exit code: 130 ended by Ctrl-C, 2 refused
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `inspect-live`."""
    parser = subparsers.add_parser('inspect-live', help='show a running node in the browser',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--node', default='dynamics_node', help='name of the node, with namespace')
    parser.add_argument('--allow-control', action='store_true',
                        help='let the page enable and disable torques, and attach payloads')
    add_server_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    from dynamics_node.inspector.control_guard import new_code
    from dynamics_node.inspector.live_page import LivePage
    from dynamics_node.inspector.server import address_of, open_server
    ros = import_ros('dynamics_node.ros.watched_node', "the command 'inspect-live'")
    server = open_server(arguments.host, arguments.port, f'Inspector: {arguments.node}')
    watched = ros.WatchedNode(arguments.node)
    control = ros.ControlRequests(watched.name) if arguments.allow_control else None
    code = new_code()
    try:
        sys.stdout.write(f'{watched.name}: open {address_of(server)} in a browser; Ctrl-C ends\n'
                         + (f'code of the control panel: {code}\n' if control else ''))
        sys.stdout.flush()
        LivePage(server, watched, control, code).run(threading.Event())
    finally:
        server.stop()   # first: no page can request anything of what is closed next
        if control is not None:
            control.close()
        watched.close()
    return 0
