"""The command `excitation`: a motion that tells most about a robot, to be sent to it."""

import argparse
import sys
from pathlib import Path

from dynamics_node.commands.robot_arguments import (
    add_loops_argument,
    add_robot_arguments,
    robot_of,
)
from dynamics_node.errors import DynamicsError

ABOUT = 'Find the motion that tells most about a robot, within its limits.'
DETAILS = """\
examples:
  %(prog)s robot.urdf --out excitation.yaml
  %(prog)s robot.urdf --out excitation.yaml --period 20 --range elbow=0.2,1.5
  %(prog)s robot.urdf --out excitation.yaml --box tool0=-0.5,-0.5,0.2,0.8,0.5,1.2
  ros2 topic pub --once --yaml-file excitation.yaml \\
    /dynamics_node/reference trajectory_msgs/msg/JointTrajectory

The YAML is a trajectory_msgs/JointTrajectory; a table with the same motion is beside it, .csv. It
begins and ends at rest, in the same configuration: go there first. Links may hit each other or the
surroundings: look at the motion in a simulation before it is sent to a robot.

exit code: 0 written, 2 refused
"""


def add_parser(subparsers):
    """Add `excitation` to what `argparse.ArgumentParser.add_subparsers` returned."""
    parser = subparsers.add_parser('excitation', help='find a motion to identify a robot by',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    add_robot_arguments(parser)
    add_loops_argument(parser)
    parser.add_argument('--out', metavar='FILE', required=True, help='the YAML')
    parser.add_argument('--period', metavar='SECONDS', type=float, default=10.0)
    parser.add_argument('--harmonics', metavar='NUMBER', type=int, default=5,
                        help='the highest frequency is so many times the lowest, 1 / period')
    parser.add_argument('--periods', metavar='NUMBER', type=int, default=3,
                        help='how often the motion is repeated')
    parser.add_argument('--rate', metavar='HZ', type=float, default=50.0, help='of the points')
    parser.add_argument('--margin', metavar='SHARE', type=float, default=0.1,
                        help='of each limit of the URDF that is left unused')
    parser.add_argument('--range', metavar='JOINT=LOWER,UPPER', type=_range, action='append',
                        default=[], help="instead of the URDF's [rad or m]")
    parser.add_argument('--acceleration', metavar='LIMIT', type=float,
                        help='of every joint [rad/s^2 or m/s^2]; none by default')
    parser.add_argument('--box', metavar='LINK=X,Y,Z,X,Y,Z', type=_box, action='append',
                        default=[], help='lower and upper corner of where a link must stay [m]')
    parser.add_argument('--seed', type=int, default=0, help='another one, another motion')
    parser.add_argument('--iterations', metavar='NUMBER', type=int, default=60,
                        help='of the improvement')
    parser.set_defaults(run=run)


def run(arguments):
    """Find the motion, write it twice and say how good it is; return the exit code."""
    from dynamics_node.identification.excitation_search import ExcitationSettings, excitation
    from dynamics_node.identification.progress import ProgressBar
    from dynamics_node.identification.trajectory_files import (
        trajectory_yaml,
        write_trajectory_csv,
    )

    page = Path(arguments.out)
    table = page.with_suffix('.csv')
    if page == table:
        raise DynamicsError(f"--out is '{page}'; the table would be there: name a .yaml")
    if not page.parent.is_dir():
        raise DynamicsError(f"cannot write '{page}': no folder '{page.parent}'")
    if arguments.periods < 1:  # before the search, which takes its time
        raise DynamicsError(f'periods is {arguments.periods}; expected 1 or more')
    bar = ProgressBar()
    found = excitation(robot_of(arguments, compile=True), ExcitationSettings(
        arguments.period, arguments.harmonics, arguments.margin, dict(arguments.range),
        arguments.acceleration, tuple(arguments.box), arguments.seed, arguments.iterations), bar)
    bar.clear()
    repeated = arguments.rate, arguments.periods
    page.write_text(trajectory_yaml(found.trajectory, *repeated), encoding='utf-8')
    write_trajectory_csv(table, found.trajectory, *repeated)
    sys.stdout.write('\n'.join([
        *(f'warning: {text}' for text in found.warnings),
        f'condition number {found.condition:.3g} of {found.base_parameters} base parameters '
        f'(the best of 100 random motions has {found.random_condition:.3g})',
        str(page), str(table), '']))
    return 0


def _range(text):
    return _numbers(text, 2, 'joint=-1.5,1.5')


def _box(text):
    from dynamics_node.identification.excitation_limits import Box

    name, numbers = _numbers(text, 6, 'link=-0.5,-0.5,0.2,0.8,0.5,1.2')
    return Box(name, numbers[:3], numbers[3:])


def _numbers(text, count, form):
    name, _, words = text.rpartition('=')
    try:
        numbers = tuple(map(float, words.split(',')))
        if name and len(numbers) == count:
            return name, numbers
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f'{text!r} is not of the form {form}')
