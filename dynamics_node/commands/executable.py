"""Run the executable `dynamics_node`: a command, or the node if none is given."""

import os
import signal
import sys
from collections.abc import Sequence

from dynamics_node.commands import call
from dynamics_node.commands.main import COMMANDS as COMMANDS_WITHOUT_ROS
from dynamics_node.commands.main import main as run_command

COMMANDS = (*COMMANDS_WITHOUT_ROS, call.add_parser)
NAMES = ('inspect', 'report', 'excitation', 'identify', 'call')
WITHOUT_COMMAND = """\
Without a command, run the node:
  dynamics_node --ros-args -p robot_description:=robot.urdf
  dynamics_node --ros-args --params-file config/dynamics_node.yaml
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, or the node if there is none; return the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in (*NAMES, '-h', '--help'):
        return run_command(words, COMMANDS, 'dynamics_node', WITHOUT_COMMAND)
    # Until the node runs, a signal ends the process: its exception could be lost in an import.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: os._exit(0))
    from dynamics_node.ros.main import main as run_node
    return run_node(argv)


if __name__ == '__main__':
    sys.exit(main())
