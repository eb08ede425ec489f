"""The command `annotate`: add columns of dynamics to the files of a data set."""

import argparse
import json
import sys
from pathlib import Path

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
    parser.add_argument('--out', metavar='FOLDER', required=True,
                        help='folder of the written files; created if it does not exist')
    parser.add_argument('--mapping', metavar='FILE',
                        help='YAML file that says which columns are which joints')
    parser.add_argument('--effort-meaning', metavar='MEANING', help='meaning of the measured '
                        'effort: motor_torque, output_torque, current or without_gravity')
    parser.add_argument('--cutoff', metavar='HZ', type=float,
                        help='cutoff of the filter on positions; default: from the first episodes')
    parser.add_argument('--engine', metavar='NAME', help='dask or ray; default: threads')
    parser.add_argument('--workers', metavar='N', type=int,
                        help='number of workers; default: one per core')
    parser.add_argument('--keep', metavar='NAME', nargs='+',
                        help='columns of the sources to be written; default: all')
    parser.add_argument('--prefix', metavar='TEXT', default='',
                        help='text before the names of added columns')
    parser.add_argument('--precision', default='source', help='precision of added numbers: '
                        'float32 or float64; default: that of the positions')
    parser.add_argument('--compression', default='source', help='none, snappy, zstd, lz4, gzip '
                        'or brotli; default: that of the source')
    parser.add_argument('--topic', default='/joint_states',
                        help='topic of the joint states in a bag (%(default)s)')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Annotate the files and print a summary; return the exit code."""
    from dynamics_node.data import annotate
    from dynamics_node.data.whole_files import write_whole
    from dynamics_node.identification import ProgressBar
    from dynamics_node.reports import annotation_report_page

    robot = robot_of(arguments, compile=True)
    bar = ProgressBar()
    done = annotate(robot, arguments.files, arguments.columns, arguments.out, arguments.mapping,
                    engine=arguments.engine, workers=arguments.workers, cutoff=arguments.cutoff,
                    effort_meaning=arguments.effort_meaning, keep=arguments.keep,
                    prefix=arguments.prefix, precision=arguments.precision,
                    compression=arguments.compression, topic=arguments.topic, progress=bar)
    bar.clear()
    html, numbers = annotation_report_page(done)
    page, table = Path(done.out, 'report.html'), Path(done.out, 'report.json')
    write_whole(page, html)
    write_whole(table, json.dumps(numbers, indent=1) + '\n')
    counts = done.counts
    sys.stdout.write('\n'.join([
        *(f'failed: {reason}' for reason in done.failed.values()),
        f'{counts["rows"]} rows of {counts["episodes"]} episodes in {len(done.files)} files, '
        f'{done.resumed} of them finished before; {counts["marked"]} rows are marked',
        *(f'  {name}: {counts[name]}' for name in sorted(counts) if name not in (
            'rows', 'episodes', 'marked') and counts[name]),
        str(page), str(table), '']))
    return 1 if done.failed else 0
