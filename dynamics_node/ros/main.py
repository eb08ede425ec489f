"""Run the node as a process: read arguments, spin until a signal, end with the safe torque."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.logging import get_logger
from rclpy.signals import SignalHandlerOptions

from dynamics_node.errors import FileError
from dynamics_node.files import check_file
from dynamics_node.ros.child_process import LAST, Start, exit_after, exit_now, start_child
from dynamics_node.ros.node import DynamicsNode
from dynamics_node.ros.parameters import on_node
from dynamics_node.ros.rclpy_internals import RCLError, UnknownROSArgsError
from dynamics_node.ros.sendable_messages import Log
from dynamics_node.ros.spin import ignore_signals, spin, stop_requested

REFUSED = 2               # exit code
# Errors of the user at start: a parameter out of range or of a wrong type, a bad file or argument.
REFUSALS = (ParameterException, FileError, RCLError, UnknownROSArgsError, UnicodeEncodeError)
MAX_PARAMS = 50_000_000   # bytes of a parameters file, which may contain a URDF


def main(args: Sequence[str] | None = None, start: Start = start_child) -> int:
    """Run the node until a signal stops it, then end this process; return REFUSED if it cannot run.

    :param start: starts the torque process and its watchdog.
    """
    stop = stop_requested()
    node = None
    try:
        for path in params_files(sys.argv if args is None else args):
            check_file(path, MAX_PARAMS)
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
        node = DynamicsNode(sys.argv[1:] if args is None else args, start)
        if on_node.values_of(node)['autostart'] is not False:
            node.bring_up()
        spin(node, until=stop)
    except REFUSALS as error:
        if node is not None:
            raise
        Log(get_logger('dynamics_node')).fatal(f'cannot be started: {error}')
        return REFUSED
    finally:
        ignore_signals()
        if node is not None:
            node.torque.cleanup()
            node.torque.close()   # the last torque is out
        exit_after(LAST)
        if node is not None:
            node.take_down()
            node.destroy_node()
        rclpy.try_shutdown()
    return exit_now(0)   # LLVM cannot be stopped while it compiles a kernel


def params_files(words: Sequence[str]) -> list[str]:
    """Return the parameters files named on a command line."""
    return [path for word, path in zip(words, words[1:]) if word == '--params-file']


if __name__ == '__main__':
    main()
