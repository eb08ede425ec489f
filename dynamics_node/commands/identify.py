"""The command `identify`: identify a robot from a recording; write URDF, friction and report."""

import argparse
import sys
from typing import TYPE_CHECKING

from dynamics_node.checks import named_numbers
from dynamics_node.commands.report import about
from dynamics_node.commands.robot_arguments import (
    add_loops_argument,
    add_robot_arguments,
    load,
    robot_of,
    source_of,
)
from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.errors import DynamicsError
from dynamics_node.files import read_file, read_text
from dynamics_node.model.urdf_text import MAX_BYTES

if TYPE_CHECKING:   # imported only when the command runs
    from dynamics_node.identification.drive_gains import DriveGains
    from dynamics_node.identification.motor_side import Drives
    from dynamics_node.identification.recording import RawRecording
    from dynamics_node.robot.robot import Robot

ABOUT = 'Identify masses, centres of mass, inertias, friction and armature from a recording.'
DETAILS = """\
examples:
  %(prog)s robot.urdf recording.mcap --out identified
  %(prog)s robot.urdf monday.mcap tuesday.mcap --validate wednesday.mcap --out identified
  %(prog)s robot.urdf recording.mcap --loops loops.yaml --out identified

Written files:
  robot.urdf                 with the identified inertias, every other byte unchanged
  friction.yaml              parameters of the node
  report.html, report.json   the report
  recording.csv              the recording

exit code: 0 written; 1 written, but do not use it: the torque error on held-out samples is large or
has grown, the mass of a link changes by more than a factor of 3 though the data do not determine
it, cross-validation multiplies the noise and does not show better predictions than before, or the
data determine nothing; 2 refused
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `identify`."""
    parser = subparsers.add_parser('identify', help='identify a robot from a recording',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    add_robot_arguments(parser)
    add_loops_argument(parser)
    parser.add_argument('recording', nargs='+', help='CSV, also with .gz, .npz, .parquet, or a '
                        'ROS 2 bag, of a motion with its efforts; several are fitted together')
    parser.add_argument('--out', metavar='FOLDER', required=True,
                        help='folder of the written files; created if it does not exist')
    parser.add_argument('--topic', default='/joint_states',
                        help='topic of the joint states in a bag (%(default)s)')
    parser.add_argument('--columns', metavar='NAMES', default='', help='column names of a table '
                        'without a header, such as time,position_joint_1,effort_joint_1')
    parser.add_argument('--effort-scale', metavar='JOINT=K', action='append', default=[],
                        help='torque [N m or N] per recorded unit of effort, such as ampere')
    parser.add_argument('--no-effort', metavar='JOINT', action='append', default=[],
                        help='do not use the effort of this joint, only its motion')
    parser.add_argument('--gear-ratio', metavar='JOINT=R', action='append', default=[],
                        help='position and effort of this joint are those of its motor; -1 inverts '
                        'both signs')
    parser.add_argument('--transmission', metavar='FILE', help='YAML file of the transmission, '
                        'instead of gear ratios, if motors and joints are coupled')
    parser.add_argument('--loaded', metavar='FILE', help='another recording, with the payload of '
                        '--known-payload: the gains of drives are estimated with it first')
    parser.add_argument('--known-payload', metavar='LINK=KG[,X,Y,Z]', type=load,
                        help='payload of --loaded: mass, and centre of mass in the link frame')
    parser.add_argument('--method', default='weighted', help='ordinary, weighted or robust')
    parser.add_argument('--prior-weight', metavar='NUMBER', type=float, default=1.0,
                        help='1: inertias of the URDF are correct to 100 %%, 100: to 10 %%')
    parser.add_argument('--validation-share', metavar='SHARE', type=float, default=0.2,
                        help='share of the samples, at the end of the recording, used to validate')
    parser.add_argument('--validate', metavar='FILE',
                        help='another recording, used to validate in place of that share')
    parser.add_argument('--cutoff', metavar='HZ', type=float,
                        help='cutoff of the filter on positions; default: from the spectrum')
    parser.add_argument('--friction', metavar='TERMS', default='auto',
                        help='auto: its law is chosen from the data; plain: viscous and Coulomb; '
                        'or some of stribeck, asymmetric, load, with commas between them')
    parser.add_argument('--stribeck-speed', metavar='SPEED', type=float,
                        help='add Stribeck friction with this speed [rad/s or m/s]')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Identify, write the files and print their paths; return the exit code."""
    from dynamics_node.identification import (
        IdentificationOptions,
        ProgressBar,
        identify_recording,
        join_recordings,
        joint_side,
    )
    from dynamics_node.reports.identification_files import make_folder, write_identification_files

    source = source_of(arguments)
    robot = robot_of(arguments, source, compile=True)
    urdf = source if isinstance(source, bytes) else read_file(source, MAX_BYTES)
    make_folder(arguments.out)
    drives = _drives(arguments)
    raw = join_recordings([_recording(arguments, path, robot, drives)
                           for path in arguments.recording], arguments.recording)
    gains = _gains(arguments, robot, raw, drives)
    if gains is not None:
        raw = joint_side(robot, raw, gains.scales)
    options = IdentificationOptions(
        method=arguments.method, prior_weight=arguments.prior_weight,
        validation_share=arguments.validation_share, stribeck_speed=arguments.stribeck_speed,
        transmission=drives.transmission, friction=arguments.friction)
    bar = ProgressBar()
    unseen = (_recording(arguments, arguments.validate, robot, drives)
              if arguments.validate is not None else None)
    if gains is not None and unseen is not None:
        unseen = joint_side(robot, unseen, gains.scales)
    done = identify_recording(robot, raw, options, arguments.cutoff, bar, validation=unseen)
    bar.clear()
    noted = {} if gains is None else {'gains of the drives': gains.text}
    files = write_identification_files(arguments.out, urdf, robot, raw, done,
                                       {**about(arguments.urdf, *arguments.recording), **noted})
    verdict = done.result.verdict
    loops = done.result.loops
    sys.stdout.write('\n'.join([
        *([] if loops is None else str(loops).splitlines()),
        *([] if gains is None else [str(gains)]),
        *(f'warning: {text}' for text in dict.fromkeys(
            (*(() if gains is None else gains.warnings), *done.warnings))),
        f'{done.prepared.used:.3g} of {done.prepared.recorded:.3g} s of the recording are used',
        f'friction: {done.result.friction}',
        *(f'do not use: {text}' for text in verdict.reasons), str(verdict), *files, '']))
    return 0 if verdict.success else 1


def _drives(arguments: argparse.Namespace) -> 'Drives':
    """Return the Drives that made the recordings."""
    from dynamics_node.identification import read_transmission
    from dynamics_node.identification.motor_side import Drives

    scales, ratios = (named_numbers(f'--{name}', ' '.join(given)) for name, given in (
        ('effort-scale', arguments.effort_scale), ('gear-ratio', arguments.gear_ratio)))
    scales |= dict.fromkeys(arguments.no_effort, float('nan'))
    return Drives(scales, ratios, None if arguments.transmission is None else read_transmission(
        read_text(arguments.transmission, MAX_BYTES)))


def _gains(arguments: argparse.Namespace, robot: 'Robot', raw: 'RawRecording', drives: 'Drives'
           ) -> 'DriveGains | None':
    """Return the DriveGains from a recording with a known payload, None if there is none."""
    from dynamics_node.identification import estimate_gains

    if (arguments.loaded is None) != (arguments.known_payload is None):
        raise DynamicsError('only one of --loaded and --known-payload is given; expected both: a '
                            'recording with a payload, and that payload')
    if arguments.loaded is None:
        return None
    if arguments.transmission is not None:
        raise DynamicsError('--loaded and --transmission are both given; expected one of them: '
                            'gains are estimated for joints, not for coupled motors')
    frame, mass, com = arguments.known_payload
    return estimate_gains(robot, raw, robot.with_payload('known payload', frame, mass, com),
                          _recording(arguments, arguments.loaded, robot, drives), arguments.cutoff)


def _recording(arguments: argparse.Namespace, path: str, robot: 'Robot', drives: 'Drives'
               ) -> 'RawRecording':
    """Return the RawRecording of a file, converted to joint positions and torques."""
    from dynamics_node.identification import joint_side, read_recording

    raw = read_recording(path, arguments.topic,
                         arguments.columns.split(',') if arguments.columns else ())
    return joint_side(robot, raw, *drives)
