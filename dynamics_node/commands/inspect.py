"""The command `inspect`: report on a URDF, with masses, limits and findings."""

import argparse
import json
import os
import sys
from collections.abc import Mapping

from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.errors import ModelError
from dynamics_node.model.report import ModelReport
from dynamics_node.model.urdf_text import MAX_BYTES
from dynamics_node.robot.robot import Robot

ABOUT = 'Print masses, limits and findings of a URDF.'
DETAILS = """\
examples:
  %(prog)s robot.urdf
  %(prog)s robot.urdf --floating --lock left_finger=0.02 --lock right_finger=0.02
  %(prog)s robot.urdf --json | jq .findings
  xacro robot.urdf.xacro | %(prog)s -

exit code: 0 no error, 1 the report has an error, 2 the file or an argument is refused
"""


def inspect_urdf(source: str | bytes | os.PathLike, as_json: bool = False, base: str = 'fixed',
                 locked: Mapping[str, float] | None = None) -> str:
    """Return the report on a URDF as text: masses, limits, findings.

    :param source: the URDF, as text or as the path of a file.
    :param as_json: JSON instead of tables, see `ModelReport.as_dict`.
    :param base: 'fixed' or 'floating'.
    :param locked: {joint: position} of locked joints [rad or m].
    :raise ModelError: names the link or joint, and what is valid.
    """
    return _shown(_report(source, base, locked), as_json)


def _report(source: str | bytes | os.PathLike, base: str, locked: Mapping[str, float] | None
            ) -> ModelReport:
    return Robot.from_urdf(source, base=base, locked=locked, compile=False).report()


def _shown(report: ModelReport, as_json: bool) -> str:
    return json.dumps(report.as_dict(), indent=2, allow_nan=False) if as_json else str(report)


# The command ---------------------------------------------------------------------------------

def add_parser(subparsers: Subparsers) -> None:
    """Add the command `inspect`."""
    parser = subparsers.add_parser('inspect', help='print masses, limits and findings of a URDF',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('urdf', help="the file; '-' reads the standard input")
    parser.add_argument('--json', action='store_true', help='JSON instead of tables')
    parser.add_argument('--floating', action='store_true',
                        help='the root link is free; default: fixed to the world')
    parser.add_argument('--lock', metavar='JOINT=POSITION', type=joint_position, action='append',
                        default=[], help='lock a joint at a position [rad or m]; may be repeated')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the report to the standard output; return the exit code."""
    source = standard_input() if arguments.urdf == '-' else arguments.urdf
    report = _report(source, 'floating' if arguments.floating else 'fixed', dict(arguments.lock))
    sys.stdout.write(_shown(report, arguments.json) + '\n')
    return int(any(finding.level == 'error' for finding in report.findings))


def joint_position(text: str) -> tuple[str, float]:
    """Return (joint, position) of 'joint=position'."""
    joint, _, position = text.rpartition('=')
    try:
        if joint:
            return joint, float(position)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f'{text!r} is not of the form joint=0.1')


def standard_input() -> bytes:
    """Return the standard input, up to the greatest size of a URDF."""
    if sys.stdin is None:
        raise ModelError('the standard input is closed')
    return sys.stdin.buffer.read(MAX_BYTES + 1)
