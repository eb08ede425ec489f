"""Parse the command line and run one command; the commands here need no ROS."""

import argparse
import io
import os
import sys

from dynamics_node.commands import excitation, identify, inspect, report
from dynamics_node.errors import DynamicsError

REFUSED, INTERRUPTED, NOBODY_READS = 2, 130, 141  # the latter two as the shell counts signals
COMMANDS = (inspect.add_parser, report.add_parser, excitation.add_parser,
            identify.add_parser)


class OneLine(argparse.ArgumentParser):
    """A parser that refuses in one line, as every other refusal is."""

    def error(self, message):
        """Say what is wrong, and leave."""
        self.exit(REFUSED, f'{self.prog}: {message}; --help says more\n')


def main(argv=None, commands=COMMANDS, prog='python -m dynamics_node', more=''):
    """Run a command and return its exit code; nothing a user can do ends in a traceback.

    :param argv: the words of the command line; None takes the process's own.
    :param commands: functions (subparsers) that add one command each and set the default
        run(arguments) -> exit code. More than these are in `dynamics_node.ros`.
    :param more: said at the end of --help.
    """
    _open_streams()
    try:
        arguments = parser_of(commands, prog, more).parse_args(argv)
        code = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except DynamicsError as error:
        return _refuse(prog, error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # `| head` has seen enough
        _close_stdout()
        return NOBODY_READS
    except OSError as error:  # a full disk, an input that is a directory
        _close_stdout()
        return _refuse(prog, error.strerror)


def parser_of(commands, prog, more=''):
    """Return the argument parser of some commands."""
    parser = OneLine(prog=prog, description='The dynamics of any robot in a URDF.', epilog=more,
                     formatter_class=argparse.RawDescriptionHelpFormatter)
    subparsers = parser.add_subparsers(dest='command', metavar='command', required=True)
    for add in commands:
        add(subparsers)
    return parser


def _open_streams():
    """Have somewhere to write to, names in any script included."""
    sys.stdout = sys.stdout or io.TextIOWrapper(io.BytesIO())  # `>&-` leaves None
    sys.stderr = sys.stderr or io.TextIOWrapper(io.BytesIO())
    if hasattr(sys.stdout, 'reconfigure'):  # whoever calls this may have put a StringIO there
        sys.stdout.reconfigure(errors='backslashreplace')


def _refuse(prog, error):
    sys.stderr.write(f'{prog}: {" ".join(str(error).split())}\n')
    return REFUSED


def _close_stdout():
    """Let go of what could not be written; Python would try once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
