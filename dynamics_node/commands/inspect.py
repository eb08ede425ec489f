"""Look at a URDF before anything is built on it: the command `inspect`."""

import argparse
import json
import sys

from dynamics_node.errors import ModelError
from dynamics_node.model.urdf_text import MAX_BYTES
from dynamics_node.robot.robot import Robot

ABOUT = 'What is this robot, and what about it cannot be right?'
DETAILS = """\
examples:
  %(prog)s robot.urdf
  %(prog)s robot.urdf --floating --lock left_finger=0.02 --lock right_finger=0.02
  %(prog)s robot.urdf --json | jq .findings
  xacro robot.urdf.xacro | %(prog)s -

exit code: 0 nothing is wrong, 1 the report names an error, 2 the file or an argument is refused
"""


def inspect_urdf(source, as_json=False, base='fixed', locked=None):
    """Return the report about a URDF: masses, limits, and what cannot be right.

    :param source: the URDF, as text or as the path of a file.
    :param as_json: JSON instead of tables; `ModelReport.as_dict` says what is in it.
    :param base: 'fixed' to the world or 'floating' in it.
    :param locked: {joint: position} held there [rad or m].
    :raise ModelError: what is wrong, at which link or joint, and what would be valid.
    """
    return _shown(_report(source, base, locked), as_json)


def _report(source, base, locked):
    return Robot.from_urdf(source, base=base, locked=locked, compile=False).report()


def _shown(report, as_json):
    return json.dumps(report.as_dict(), indent=2, allow_nan=False) if as_json else str(report)


# The command ---------------------------------------------------------------------------------

def add_parser(subparsers):
    """Add `inspect` to what `argparse.ArgumentParser.add_subparsers` returned."""
    parser = subparsers.add_parser('inspect', help='report on a URDF file: ' + ABOUT.lower(),
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('urdf', help="the file; '-' reads the standard input")
    parser.add_argument('--json', action='store_true', help='for programs: JSON, not tables')
    parser.add_argument('--floating', action='store_true',
                        help='the root link moves freely; else it is fixed to the world')
    parser.add_argument('--lock', metavar='JOINT=POSITION', type=joint_position, action='append',
                        default=[], help='hold a joint there [rad or m]; several times at will')
    parser.set_defaults(run=run)


def run(arguments):
    """Write the report to the standard output; return the exit code."""
    source = standard_input() if arguments.urdf == '-' else arguments.urdf
    report = _report(source, 'floating' if arguments.floating else 'fixed', dict(arguments.lock))
    sys.stdout.write(_shown(report, arguments.json) + '\n')
    return int(any(finding.level == 'error' for finding in report.findings))


def joint_position(text):
    """Return (joint, position) of 'joint=position'."""
    joint, _, position = text.rpartition('=')
    try:
        if joint:
            return joint, float(position)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f'{text!r} is not of the form joint=0.1')


def standard_input():
    """Return what comes in, bytes; more than a URDF may have is left there."""
    if sys.stdin is None:
        raise ModelError('the standard input is closed')
    return sys.stdin.buffer.read(MAX_BYTES + 1)
