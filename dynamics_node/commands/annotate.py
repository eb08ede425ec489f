"""The command `annotate`: add columns of dynamics to the files of a data set."""

import argparse
import json
import sys
from pathlib import Path

from dynamics_node.commands.result_arguments import (
    add_result_arguments,
    result_options,
    summary,
)
from dynamics_node.commands.robot_arguments import add_robot_arguments, robot_of
from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.data.quantities import VALID

ABOUT = 'Add columns of dynamics to the files of a data set: torques, external torques, poses.'
DETAILS = f"""\
examples:
  %(prog)s robot.urdf 'data/*.parquet' --columns gravity pose:tool0 --out annotated
  %(prog)s robot.urdf 'data/*.parquet' --columns gravity external_torque --out annotated \\
      --mapping mapping.yaml --effort-meaning motor_torque
  %(prog)s robot.urdf dataset --columns inverse_dynamics power --out annotated --engine dask

columns: {VALID}

Written files:
  Parquet files              with the names of the sources; all their columns, and the added ones
  annotation.json            robot, settings and counts
  report.html, report.json   the report

If the program is stopped, run the same command again: finished files are kept.

exit code: 0 written; 1 written, but some files failed; 2 refused
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `annotate`."""
    parser = subparsers.add_parser('annotate', help='add columns of dynamics to a data set',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    add_robot_arguments(parser)
    parser.add_argument('files', nargs='+', help='Parquet, CSV, .npz or ROS 2 bags; patterns; the '
                        'folder of a LeRobot data set')
    parser.add_argument('--columns', metavar='NAME', nargs='+', required=True,
                        help='columns to add, see below')
    parser.add_argument('--mapping', metavar='FILE',
                        help='YAML file that says which columns are which joints')
    parser.add_argument('--effort-meaning', metavar='MEANING', help='meaning of the measured '
                        'effort: motor_torque, output_torque, current or without_gravity')
    parser.add_argument('--cutoff', metavar='HZ', type=float,
                        help='cutoff of the filter on positions; default: from the first episodes')
    parser.add_argument('--topic', default='/joint_states',
                        help='topic of the joint states in a bag (%(default)s)')
    add_result_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Annotate the files and print a summary; return the exit code."""
    from dynamics_node.data import annotate
    from dynamics_node.data.atomic_files import write_atomically
    from dynamics_node.identification import ProgressBar
    from dynamics_node.reports import annotation_report_page

    robot = robot_of(arguments, compile=True)
    bar = ProgressBar()
    done = annotate(robot, arguments.files, arguments.columns, arguments.out, arguments.mapping,
                    cutoff=arguments.cutoff, effort_meaning=arguments.effort_meaning,
                    topic=arguments.topic, progress=bar, **result_options(arguments))
    bar.clear()
    html, numbers = annotation_report_page(done)
    page, table = Path(done.out, 'report.html'), Path(done.out, 'report.json')
    write_atomically(page, html)
    write_atomically(table, json.dumps(numbers, indent=1) + '\n')
    sys.stdout.write('\n'.join([*summary(done), str(page), str(table), '']))
    return 1 if done.failed else 0
