"""The command `excitation`: find an excitation trajectory of a robot and write it to files."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dynamics_node.commands.robot_arguments import (
    add_loops_argument,
    add_robot_arguments,
    robot_of,
    source_of,
)
from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.errors import DynamicsError
from dynamics_node.model.urdf_text import urdf_text

if TYPE_CHECKING:   # imported only when the command runs
    from dynamics_node.identification import Box
    from dynamics_node.identification.fourier import Fourier
    from dynamics_node.robot.robot import Robot

ABOUT = 'Find an excitation trajectory for identification, within the limits of the robot.'
DETAILS = """\
examples:
  %(prog)s robot.urdf --out excitation.yaml
  %(prog)s robot.urdf --out excitation.yaml --period 20 --range elbow=0.2,1.5
  %(prog)s robot.urdf --out excitation.yaml --box tool0=-0.5,-0.5,0.2,0.8,0.5,1.2
  dynamics_node follow excitation.yaml

The YAML is a trajectory_msgs/JointTrajectory; the same motion is written as a table, .csv. It
starts and ends at rest, in the same configuration: move the robot there first. Links that would
touch each other are named, with the time; contacts shorter than a hundredth of the fastest sine,
and collisions with anything else, are not found: simulate the motion before it is sent to a robot.

exit code: 0 written, 2 refused
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `excitation`."""
    parser = subparsers.add_parser('excitation', help='find a motion to identify a robot',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    add_robot_arguments(parser)
    add_loops_argument(parser)
    parser.add_argument('--out', metavar='FILE', required=True, help='the YAML file')
    parser.add_argument('--period', metavar='SECONDS', type=float, default=10.0,
                        help='period of the Fourier series; default: 10')
    parser.add_argument('--harmonics', metavar='NUMBER', type=int, default=5, help='number of '
                        'harmonics; the highest frequency is harmonics / period; default: 5')
    parser.add_argument('--periods', metavar='NUMBER', type=int, default=3,
                        help='repetitions of the motion')
    parser.add_argument('--rate', metavar='HZ', type=float, default=50.0,
                        help='points of the trajectory per second; default: 50')
    parser.add_argument('--margin', metavar='SHARE', type=float, default=0.1,
                        help='share of each limit of the URDF that is kept free; default: 0.1')
    parser.add_argument('--range', metavar='JOINT=LOWER,UPPER', type=_range, action='append',
                        default=[], help='position limits of a joint, instead of those of the URDF '
                        '[rad or m]; may be repeated')
    parser.add_argument('--acceleration', metavar='LIMIT', type=float,
                        help='limit of every joint [rad/s^2 or m/s^2]; default: none')
    parser.add_argument('--box', metavar='LINK=X,Y,Z,X,Y,Z', type=_box, action='append',
                        default=[], help='lower and upper corner of the box in which the origin of '
                        'a link must stay [m]; may be repeated')
    parser.add_argument('--seed', type=int, default=0, help='seed of the random motions')
    parser.add_argument('--iterations', metavar='NUMBER', type=int, default=60,
                        help='greatest number of steps of the optimisation')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Find the motion, write both files and print its condition number; return the exit code."""
    from dynamics_node.identification import (
        ExcitationSettings,
        ProgressBar,
        excitation,
        trajectory_yaml,
        write_trajectory_csv,
    )

    page = Path(arguments.out)
    table = page.with_suffix('.csv')
    if page == table:
        raise DynamicsError(f"--out is '{page}', the name of the table; expected a .yaml")
    if not page.parent.is_dir():
        raise DynamicsError(f"cannot write '{page}': no folder '{page.parent}'")
    if arguments.periods < 1:  # before the search, which is slow
        raise DynamicsError(f'periods is {arguments.periods}; expected 1 or more')
    bar = ProgressBar()
    source = source_of(arguments)
    robot = robot_of(arguments, source, compile=True)
    found = excitation(robot, ExcitationSettings(
        arguments.period, arguments.harmonics, arguments.margin, dict(arguments.range),
        arguments.acceleration, tuple(arguments.box), arguments.seed, arguments.iterations), bar)
    bar.clear()
    warnings = *found.warnings, *_touching(robot, source, found.trajectory)
    repeated = arguments.rate, arguments.periods
    page.write_text(trajectory_yaml(found.trajectory, *repeated), encoding='utf-8')
    write_trajectory_csv(table, found.trajectory, *repeated)
    sys.stdout.write('\n'.join([
        *(f'warning: {text}' for text in warnings),
        f'condition number {found.condition:.3g} of {found.base_parameters} base parameters '
        f'(the best of 100 random motions has {found.random_condition:.3g})',
        str(page), str(table), '']))
    return 0


def _touching(robot: 'Robot', source: str | bytes, trajectory: 'Fourier') -> Sequence[str]:
    """Return warnings about links that touch each other in one period of the motion."""
    from dynamics_node.identification.excitation_limits import dense_times
    from dynamics_node.identification.excited_robot import excited_robot
    from dynamics_node.inspector.self_collision import self_collisions

    times = dense_times(trajectory)
    states = excited_robot(robot).states(trajectory, times)
    assert states is not None   # the search has followed the motion
    folder = None if isinstance(source, bytes) else Path(source).resolve().parent
    return self_collisions(robot, urdf_text(source), times, states[0], folder).warnings


def _range(text: str) -> tuple[str, tuple[float, ...]]:
    return _numbers(text, 2, 'joint=-1.5,1.5')


def _box(text: str) -> 'Box':
    from dynamics_node.identification import Box

    name, numbers = _numbers(text, 6, 'link=-0.5,-0.5,0.2,0.8,0.5,1.2')
    return Box(name, numbers[:3], numbers[3:])


def _numbers(text: str, count: int, form: str) -> tuple[str, tuple[float, ...]]:
    name, _, words = text.rpartition('=')
    try:
        numbers = tuple(map(float, words.split(',')))
        if name and len(numbers) == count:
            return name, numbers
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f'{text!r} is not of the form {form}')
