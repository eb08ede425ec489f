"""The command `rollouts`: roll out motions from initial states and torques in files."""

import argparse
import sys

from dynamics_node.commands.result_arguments import (
    add_result_arguments,
    result_options,
    summary,
)
from dynamics_node.commands.robot_arguments import add_robot_arguments, robot_of
from dynamics_node.commands.subparsers import Subparsers

ABOUT = 'Simulate a motion for each row of Parquet files: from an initial state, under torques.'
DETAILS = """\
examples:
  %(prog)s robot.urdf 'states/*.parquet' --period 0.01 --step 0.0001 --out ends
  %(prog)s robot.urdf 'states/*.parquet' --period 0.01 --step 0.0001 \\
      --columns q_motion v_motion --out motions
  %(prog)s robot.urdf 'states/*.parquet' --columns acceleration --out accelerations --engine ray

A row has lists of numbers: q, v, and torque, with the torques of one period after another.

columns: q_end, v_end, q_motion, v_motion, acceleration, acceleration_dq, acceleration_dv,
  acceleration_dtau

Written files:
  Parquet files    with the names of the sources; all their columns, and the added ones
  rollouts.json    robot, settings and counts

If the program is stopped, run the same command again: finished files are kept.

exit code: 0 written; 1 written, but some files failed; 2 refused
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `rollouts`."""
    parser = subparsers.add_parser('rollouts', help='roll out motions from states in Parquet files',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    add_robot_arguments(parser)
    parser.add_argument('files', nargs='+', help='Parquet files; patterns; their folder')
    parser.add_argument('--period', metavar='S', type=float,
                        help='time for which a torque is held; needed for ends and motions')
    parser.add_argument('--step', metavar='S', type=float,
                        help='greatest step of the integration; default: one per period')
    parser.add_argument('--columns', metavar='NAME', nargs='+', default=['q_end', 'v_end'],
                        help='columns to add, see below; default: q_end v_end')
    parser.add_argument('--q', metavar='NAME', default='q', help='column of positions')
    parser.add_argument('--v', metavar='NAME', default='v', help='column of velocities')
    parser.add_argument('--at-rest', action='store_true', help='there is no column of velocities')
    parser.add_argument('--torque', metavar='NAME', default='torque', help='column of torques')
    add_result_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Roll out the files and print a summary; return the exit code."""
    from dynamics_node.data import rollouts
    from dynamics_node.identification import ProgressBar

    robot = robot_of(arguments, compile=True)
    bar = ProgressBar()
    done = rollouts(robot, arguments.files, arguments.out, arguments.period, arguments.columns,
                    q=arguments.q, v=None if arguments.at_rest else arguments.v,
                    torque=arguments.torque, step=arguments.step, progress=bar,
                    **result_options(arguments))
    bar.clear()
    sys.stdout.write('\n'.join([*summary(done), '']))
    return 1 if done.failed else 0
