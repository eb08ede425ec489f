"""The command `simulate`: compute the motion of a robot under constant torques, write a table."""

import argparse
import sys
from pathlib import Path

import numpy as np

from dynamics_node.checks import positive
from dynamics_node.commands.inspect import joint_position
from dynamics_node.commands.robot_arguments import (
    add_loops_argument,
    add_robot_arguments,
    robot_of,
)
from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.errors import DynamicsError

ABOUT = 'Simulate a robot from rest, under constant torques.'
MOST_ROWS = 1_000_000   # of the table
DETAILS = """\
examples:
  %(prog)s robot.urdf --time 2 --out motion.csv
  %(prog)s robot.urdf --time 2 --out motion.csv --start joint_2=0.5 --torque joint_4=3

The table has the columns time, position_<joint>, velocity_<joint>, effort_<joint>. Friction acts;
limits of joints and collisions do not.

exit code: 0 written, 2 refused
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `simulate`."""
    parser = subparsers.add_parser('simulate', help='simulate a robot, write a table',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    add_robot_arguments(parser)
    add_loops_argument(parser)
    parser.add_argument('--time', metavar='SECONDS', type=float, required=True)
    parser.add_argument('--out', metavar='FILE', required=True, help='the table, .csv')
    parser.add_argument('--start', metavar='JOINT=POSITION', type=joint_position, action='append',
                        default=[], help='first position [rad or m]; others: 0 within the limits')
    parser.add_argument('--torque', metavar='JOINT=TORQUE', type=joint_position, action='append',
                        default=[], help='constant torque [N m or N]; others: 0')
    parser.add_argument('--rate', metavar='HZ', type=float, default=100.0,
                        help='rows of the table per second; default: 100')
    parser.add_argument('--method', default='radau',
                        help="'radau', adaptive, also for dry friction; 'rk4'; 'dop853'")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Simulate the robot and write the table; return the exit code."""
    from dynamics_node.identification import ProgressBar, raw_recording, write_csv

    table = Path(arguments.out)
    if not table.parent.is_dir():
        raise DynamicsError(f"cannot write '{table}': no folder '{table.parent}'")
    duration, rate = positive('--time', arguments.time), positive('--rate', arguments.rate)
    if duration * rate > MOST_ROWS:
        raise DynamicsError(f'--time {duration:g} and --rate {rate:g} give {duration * rate:.4g} '
                            f'rows; expected at most {MOST_ROWS}')
    robot = robot_of(arguments, compile=True)
    if robot.nv != len(robot.joint_names):
        raise DynamicsError('the table has one column per joint; expected a robot without planar '
                            'and floating joints')
    q, tau = robot.neutral(), np.zeros(robot.nv)
    for values, given in ((q, arguments.start), (tau, arguments.torque)):
        for name, value in given:
            values[robot.model.joint(name).v] = value
    time = np.linspace(0.0, duration, max(1, round(duration * rate)) + 1)
    bar = ProgressBar()
    motion = robot.simulate(q, np.zeros(robot.nv), tau, time, method=arguments.method, progress=bar)
    bar.clear()
    write_csv(table, raw_recording(robot.joint_names, time, motion.q, motion.tau, motion.v))
    sys.stdout.write(f'{table}\n')
    return 0
