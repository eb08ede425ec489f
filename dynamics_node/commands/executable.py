"""Run the program `dynamics_node`: a command, or the node if none is given."""

import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Set before NumPy is loaded. The matrices are small: a second thread of OpenBLAS gains little, and
# spins while it waits. On a busy machine an identification took 20 times as long with it.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

from dynamics_node.commands.main import main as run_command  # noqa: E402
from dynamics_node.commands.ros_import import import_ros  # noqa: E402
from dynamics_node.errors import DynamicsError  # noqa: E402

REFUSED = 2  # exit code


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, or the node if there is none; return the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if words and (words[0] in ('-h', '--help') or not words[0].startswith('-')):
        return run_command(words)
    # Until the node runs, a signal ends the process: its exception could be lost in an import.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: os._exit(0))
    prepared = prepared_processes()
    try:
        node = import_ros('dynamics_node.ros.main', 'the node')
    except DynamicsError as error:
        sys.stderr.write(f'dynamics_node: {error}\n')
        return REFUSED
    return node.main(argv, *prepared)


def prepared_processes() -> list[Any]:
    """Fork the processes of the node before rclpy is loaded; return the function that starts them.

    It is the only entry of a list, which is empty without ROS.
    """
    if find_spec('dynamics_node.ros') is None or find_spec('rclpy') is None:
        return []
    prepared = import_module('dynamics_node.ros.prepared_process')
    return [prepared.PreparedProcesses(prepared.MODULES).start]


if __name__ == '__main__':
    sys.exit(main())
