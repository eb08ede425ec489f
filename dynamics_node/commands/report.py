"""The command `report`: write a report as an HTML page and as JSON."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dynamics_node.commands.inspect import joint_position
from dynamics_node.commands.robot_arguments import (
    add_loops_argument,
    add_robot_arguments,
    configuration_at,
    robot_of,
)
from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.errors import DynamicsError

ABOUT = 'Write a report: a self-contained HTML file, and all its numbers as JSON.'
DETAILS = """\
examples:
  %(prog)s model robot.urdf
  %(prog)s model robot.urdf --at elbow=1.2 --payload tool0=2.5,0,0,0.1 --out robot.html
  %(prog)s trajectory robot.urdf motion.csv --payload-frame tool0
  %(prog)s identification robot.urdf recording.mcap

exit code: 0 written, 2 a file or an argument is refused
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `report`."""
    parser = subparsers.add_parser('report', help='write a page about a robot, a trajectory or an '
                                   'identification', description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest='kind', metavar='kind', required=True)
    _add_model(kinds)
    _add_trajectory(kinds)
    _add_identification(kinds)


def _add_model(kinds: Subparsers) -> None:
    parser = _parser(kinds, 'model', model, 'tree, masses, inertias, limits, findings, gravity')
    parser.add_argument('--at', metavar='JOINT=POSITION', type=joint_position, action='append',
                        default=[], help='position of a joint in the figures; default: neutral')
    parser.add_argument('--frame', metavar='LINK',
                        help='also draw the manipulability of this link')
    add_loops_argument(parser)
    parser.add_argument('--floating', action='store_true',
                        help='the root link is free; default: fixed to the world')


def _add_trajectory(kinds: Subparsers) -> None:
    parser = _parser(kinds, 'trajectory', trajectory, 'efforts and velocities against limits')
    parser.add_argument('trajectory', help='CSV, or YAML of a trajectory_msgs/JointTrajectory')
    parser.add_argument('--payload-frame', metavar='LINK', default='',
                        help='also compute the greatest payload at this link')
    parser.add_argument('--check-period', metavar='SECONDS', type=float, default=0.01,
                        help='period of additional checks between the points; 0: none')


def _add_identification(kinds: Subparsers) -> None:
    parser = _parser(kinds, 'identification', identification,
                     'parameters with error bars, residuals before and after')
    add_loops_argument(parser)
    parser.add_argument('recording', help='CSV, or a ROS 2 bag, of a motion with its efforts')
    parser.add_argument('--topic', default='/joint_states',
                        help='topic of the joint states in a bag (%(default)s)')


def _parser(kinds: Subparsers, name: str, run: Callable[[argparse.Namespace], int], about: str
            ) -> argparse.ArgumentParser:
    """Return the parser of one kind of report, with the common arguments."""
    parser = kinds.add_parser(name, help=about, description=f'{ABOUT} Contents: {about}.')
    add_robot_arguments(parser)
    parser.add_argument('--out', metavar='FILE', help='HTML file; default: named after the input')
    parser.add_argument('--json', metavar='FILE', help='JSON file; default: next to the HTML file')
    parser.set_defaults(run=run)
    return parser


# Each report imports its page when it runs, so that other commands start fast.


def model(arguments: argparse.Namespace) -> int:
    """Write the report of a robot; return the exit code."""
    from dynamics_node.reports.model_page import model_report_page, neutral

    robot = robot_of(arguments, base='floating' if arguments.floating else 'fixed')
    q = configuration_at(robot, neutral(robot), arguments.at)
    if arguments.at and robot.loops.constraints:
        q = robot.project_configuration(q, fixed=[name for name, _ in arguments.at])
    return _write(arguments, arguments.urdf, *model_report_page(
        robot, q, about(arguments.urdf), arguments.frame))


def trajectory(arguments: argparse.Namespace) -> int:
    """Write the report of a trajectory; return the exit code."""
    from dynamics_node.identification import read_trajectory
    from dynamics_node.reports import trajectory_report_page
    from dynamics_node.reports.sampled_motion import sampled_motion

    robot = robot_of(arguments)
    motion = sampled_motion(robot, *read_trajectory(arguments.trajectory),
                            check_period=arguments.check_period)
    html, numbers = trajectory_report_page(robot, *motion, payload_frame=arguments.payload_frame,
                                           about=about(arguments.urdf, arguments.trajectory))
    return _write(arguments, arguments.trajectory, html, numbers)


def identification(arguments: argparse.Namespace) -> int:
    """Identify a robot and write the report; return the exit code."""
    from dynamics_node.identification import ProgressBar, identify_recording, read_recording
    from dynamics_node.reports import identification_report_page

    robot = robot_of(arguments, compile=True)  # for a long recording kernels save time
    bar = ProgressBar()
    done = identify_recording(robot, read_recording(arguments.recording, arguments.topic),
                              progress=bar)
    bar.clear()
    html, numbers = identification_report_page(
        done.result, robot, done.prepared.recording, about(arguments.urdf, arguments.recording),
        done.prepared.warnings)
    return _write(arguments, arguments.recording, html, numbers)


def about(*files: str) -> dict[str, str]:
    """Return the line below the title of a report: names of input files and the time."""
    named = ', '.join(Path(file).name for file in files if file != '-') or 'standard input'
    return {'of': named, 'made': time.strftime('%Y-%m-%d %H:%M')}


def _write(arguments: argparse.Namespace, source: str, html: str, numbers: dict) -> int:
    """Write the page and the JSON, and print their paths."""
    stem = 'robot' if source == '-' else Path(source).stem
    page = Path(arguments.out or f'{stem}_{arguments.kind}.html')
    data = Path(arguments.json) if arguments.json else Path(os.path.splitext(page)[0] + '.json')
    for path in (page, data):  # before writing
        if path.is_dir():
            raise DynamicsError(f"cannot write '{path}': Is a directory")
    if page == data:
        raise DynamicsError(f"the page and the JSON would both be '{page}'; name another --json")
    put(page, html)
    put(data, json.dumps(numbers, indent=1, allow_nan=False) + '\n')
    sys.stdout.write(f'{page}\n{data}\n')
    return 0


def put(path: Path, text: str) -> None:
    """Write a text file; raise a DynamicsError with the reason if that fails."""
    try:
        path.write_text(text, encoding='utf-8')
    except (OSError, ValueError) as error:
        raise DynamicsError(f"cannot write '{path}': "
                            f'{getattr(error, "strerror", None) or error}') from error
