"""Parse the command line and run one command: `dynamics_node inspect robot.urdf`."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from dynamics_node.commands import (
    annotate,
    call,
    compile,
    excitation,
    follow,
    identify,
    identify_fleet,
    inspect,
    inspect_live,
    inspector,
    report,
    rollouts,
    simulate,
)
from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.errors import DynamicsError

REFUSED, INTERRUPTED, BROKEN_PIPE = 2, 130, 141  # exit codes; the latter two: 128 + signal
AddParser = Callable[[Subparsers], None]
COMMANDS: tuple[AddParser, ...] = (inspect.add_parser, report.add_parser, excitation.add_parser,
                                   identify.add_parser, identify_fleet.add_parser,
                                   simulate.add_parser, compile.add_parser, call.add_parser,
                                   follow.add_parser, inspector.add_parser,
                                   inspect_live.add_parser, annotate.add_parser,
                                   rollouts.add_parser)
WITHOUT_COMMAND = """\
Without a command, run the node:
  dynamics_node --ros-args -p robot_description:=robot.urdf
  dynamics_node --ros-args --params-file config/dynamics_node.yaml

The node and the commands `call`, `follow` and `inspect-live` need ROS 2, the other commands do not.
"""


class OneLineParser(argparse.ArgumentParser):
    """A parser whose error messages have one line, like all other errors."""

    def error(self, message: str) -> NoReturn:
        """Print the error and exit."""
        self.exit(REFUSED, f'{self.prog}: {message}; see --help\n')


def main(argv: Sequence[str] | None = None, commands: Sequence[AddParser] = COMMANDS,
         prog: str = 'dynamics_node') -> int:
    """Run a command and return its exit code; user errors are one line, not a traceback.

    :param argv: command-line arguments; None: those of the process.
    :param commands: functions f(subparsers) that add one command each, and set its function
        run(arguments) -> exit code.
    """
    _open_streams()
    try:
        arguments = parser_of(commands, prog).parse_args(argv)
        code = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except DynamicsError as error:
        return _refuse(prog, error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader has closed the pipe, as `| head` does
        _close_stdout()
        return BROKEN_PIPE
    except OSError as error:  # a full disk, an input that is a directory
        _close_stdout()
        return _refuse(prog, error.strerror)


def parser_of(commands: Sequence[AddParser], prog: str) -> argparse.ArgumentParser:
    """Return the argument parser of some commands."""
    parser: argparse.ArgumentParser = OneLineParser(
        prog=prog, description='The dynamics of any robot in a URDF.', epilog=WITHOUT_COMMAND,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    subparsers = parser.add_subparsers(dest='command', metavar='command', required=True)
    for add in commands:
        add(subparsers)
    return parser


def _open_streams() -> None:
    """Make both output streams writable, for names in any alphabet."""
    sys.stdout = sys.stdout or io.TextIOWrapper(io.BytesIO())  # None after `>&-`
    sys.stderr = sys.stderr or io.TextIOWrapper(io.BytesIO())
    if hasattr(sys.stdout, 'reconfigure'):  # a StringIO of the caller has none
        sys.stdout.reconfigure(errors='backslashreplace')


def _refuse(prog: str, error: object) -> int:
    sys.stderr.write(f'{prog}: {" ".join(str(error).split())}\n')
    return REFUSED


def _close_stdout() -> None:
    """Discard unwritten output; Python would try to write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
