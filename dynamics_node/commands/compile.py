"""The command `compile`: compile the kernels of a robot into the cache, before their first use."""

import argparse
import os
import sys
import time

from dynamics_node.checks import whole
from dynamics_node.commands.robot_arguments import (
    add_loops_argument,
    add_robot_arguments,
    robot_of,
)
from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.errors import DynamicsError

ABOUT = 'Compile the kernels of a robot into the cache: later programs load them in milliseconds.'
DETAILS = """\
examples:
  %(prog)s robot.urdf
  %(prog)s robot.urdf --floating --derivatives --frame left_foot --frame right_foot
  DYNAMICS_NODE_CACHE=/opt/kernels %(prog)s robot.urdf      in a container image

Kernels are for the CPU of this machine, the version of this package and the numbers of the URDF. If
one of these differs, the cache is not used, and kernels are compiled at their first use. Gravity,
friction and payloads are inputs: other values need no other kernels.

exit code: 0 all compiled, 1 some could not be, 2 refused
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `compile`."""
    parser = subparsers.add_parser('compile', help='compile the kernels of a robot into the cache',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    add_robot_arguments(parser)
    add_loops_argument(parser)
    parser.add_argument('--floating', action='store_true',
                        help='the root link is free; default: fixed to the world')
    parser.add_argument('--frame', metavar='LINK', action='append', default=[],
                        help='also pose, twist and Jacobian of this link; may be repeated')
    parser.add_argument('--derivatives', action='store_true',
                        help='also derivatives and regressors, which take ten times as long')
    parser.add_argument('--payloads', action='store_true', help='also with payloads as inputs')
    parser.add_argument('--wrenches', action='store_true',
                        help='also with external wrenches as inputs')
    parser.add_argument('--jobs', metavar='N', type=int, default=os.cpu_count(),
                        help='number of processes; default: the number of cores')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compile the kernels, print a summary; return the exit code."""
    from dynamics_node.identification import ProgressBar
    from dynamics_node.kernels.compile_ahead import compile_ahead
    from dynamics_node.kernels.keys import all_keys
    from dynamics_node.kernels.robot_kernels import enabled
    from dynamics_node.robot.arguments import check_frame_names

    if not enabled():
        raise DynamicsError('compilation is switched off by DYNAMICS_NODE_COMPILE')
    jobs = whole('--jobs', arguments.jobs, 1)
    robot = robot_of(arguments, base='floating' if arguments.floating else 'fixed')
    if not robot.nv:
        raise DynamicsError('the robot has no joints that move: there is nothing to compile')
    keys = all_keys(robot.model, check_frame_names(robot.model, '--frame', arguments.frame),
                    arguments.wrenches, arguments.payloads, arguments.derivatives,
                    robot.model.loops[0])
    bar, start, failed = ProgressBar(), time.monotonic(), []
    for k, each in enumerate(compile_ahead(robot.model, keys, min(jobs, len(keys))), 1):
        bar(k / len(keys), f'{each.key.kernel}: {each.seconds:.2f} s')
        if each.error:
            failed.append(f'{each.key.kernel}: {each.error}')
    bar.clear()
    sys.stdout.write(f'{len(keys) - len(failed)} kernels in {time.monotonic() - start:.1f} s\n')
    for line in failed:
        sys.stderr.write(f'{line}\n')
    return int(bool(failed))
