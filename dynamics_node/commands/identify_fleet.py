"""The command `identify-fleet`: common parameters of robots of one type, deviations of each."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dynamics_node.commands.report import about, put
from dynamics_node.commands.robot_arguments import add_robot_arguments, robot_of, source_of
from dynamics_node.commands.subparsers import Subparsers
from dynamics_node.errors import DynamicsError
from dynamics_node.files import read_file
from dynamics_node.model.urdf_text import MAX_BYTES

if TYPE_CHECKING:   # imported only when the command runs
    from dynamics_node.identification.fleet_fit import FleetIdentification
    from dynamics_node.identification.recording_summary import RecordingSummary
    from dynamics_node.robot.robot import Robot

ABOUT = 'Identify the common parameters of robots of one type, and how each robot deviates.'
DETAILS = """\
example:
  %(prog)s robot.urdf recordings/*/*.mcap --out fleet

The folder of a recording names its robot: recordings/arm_3/monday.mcap is of arm_3.

Written files:
  report.html, report.json   robots ranked by deviation, changes over time, common parameters
  common/robot.urdf          with the common inertias
  common/friction.yaml       the common friction, as parameters of the node
  ROBOT/                     the same two files for each robot
  summaries/ROBOT/*.npz      a small summary of each recording; later runs read only new recordings,
                             and use all summaries of this folder
"""
SUMMARIES, COMMON = 'summaries', 'common'


def add_parser(subparsers: Subparsers) -> None:
    """Add the command `identify-fleet`."""
    parser = subparsers.add_parser('identify-fleet', help='identify robots of one type',
                                   description=ABOUT, epilog=DETAILS,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    add_robot_arguments(parser)
    parser.add_argument('recording', nargs='*', help='file as for the command identify, in a '
                        'folder with the name of its robot')
    parser.add_argument('--out', metavar='FOLDER', required=True,
                        help='folder of the written files; created if it does not exist')
    parser.add_argument('--topic', default='/joint_states',
                        help='topic of the joint states in a bag (%(default)s)')
    parser.add_argument('--prior-weight', metavar='NUMBER', type=float, default=1.0,
                        help='1: inertias of the URDF are correct to 100 %%, 100: to 10 %%')
    parser.add_argument('--cutoff', metavar='HZ', type=float,
                        help='cutoff of the filter on positions; default: from the spectrum')
    parser.add_argument('--engine', help='dask or ray; default: threads of this process')
    parser.add_argument('--workers', type=int, metavar='N',
                        help='number of workers; default: one per core')
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Identify, write the files and print the ranking and the paths; return the exit code."""
    from dynamics_node.identification import friction_yaml, identify_fleet, write_back
    from dynamics_node.reports import fleet_report_page
    from dynamics_node.reports.identification_files import make_folder

    source = source_of(arguments)
    robot = robot_of(arguments, source, compile=True)
    urdf = source if isinstance(source, bytes) else read_file(source, MAX_BYTES)
    out = Path(arguments.out)
    make_folder(out)
    warnings = _summarise_new(arguments, robot, out)
    summaries, others = _all_summaries(robot, out)
    found = identify_fleet(robot, summaries, arguments.prior_weight)
    html, numbers = fleet_report_page(found, robot.name, about(arguments.urdf),
                                      (*warnings, *others))
    for name, own, values in ((COMMON, found.common, found.values),
                              *((each.name, each.robot, each.values) for each in found.robots)):
        make_folder(out / name)
        text = write_back(urdf, own)
        put(out / name / 'robot.urdf', text.decode() if isinstance(text, bytes) else text)
        put(out / name / 'friction.yaml', friction_yaml(found.layout, values))
    put(out / 'report.html', html)
    put(out / 'report.json', json.dumps(numbers, indent=1, allow_nan=False) + '\n')
    sys.stdout.write('\n'.join([
        *(f'warning: {text}' for text in (*warnings, *others)), *_ranking(found),
        str(out / 'report.html'), str(out / 'report.json'), '']))
    return 0


def _summarise_new(arguments: argparse.Namespace, robot: 'Robot', out: Path) -> list[str]:
    """Write the summaries of recordings that have none, or are new; return their warnings."""
    from dynamics_node.data.engines import check_engine, run_jobs
    from dynamics_node.identification import ProgressBar
    from dynamics_node.identification.recording_summary import summarize_file, summary_base

    summary_base(robot)   # refuses the robot before the work
    workers = check_engine(arguments.engine, arguments.workers)
    targets = {str(path): _target(out, path) for path in map(Path, arguments.recording)}
    twice = [path for path, target in targets.items() if list(targets.values()).count(target) > 1]
    if twice:
        raise DynamicsError(f'{" and ".join(twice)} have the same name and folder name; expected '
                            'one name for each recording of a robot')
    jobs = [(path, str(target)) for path, target in targets.items()
            if not _is_known(robot, path, target, arguments)]
    warnings, bar = [], ProgressBar()
    common = robot, arguments.topic, arguments.cutoff
    for k, ((path, _), done) in enumerate(run_jobs(summarize_file, common, jobs, arguments.engine,
                                                   workers), 1):
        bar(k / len(jobs), path)
        if isinstance(done, DynamicsError):   # one bad recording must not cost the others
            warnings.append(f'{path} is left out: {done}')
        else:
            warnings += [f'{path}: {text}' for text in done['warnings']]
    bar.clear()
    return sorted(warnings)


def _target(out: Path, path: Path) -> Path:
    """Return the path of the summary of a recording."""
    return out / SUMMARIES / _robot_name(path) / f'{path.name}.npz'


def _is_known(robot: 'Robot', path: str, target: Path, arguments: argparse.Namespace) -> bool:
    """Return whether the summary of a recording is there, of this model and these options."""
    from dynamics_node.identification import read_summary
    from dynamics_node.identification.recording_summary import file_key, model_hash, summary_base

    key = file_key(path, arguments.topic, arguments.cutoff)
    if not target.exists():
        return False
    known = read_summary(target)
    return (known.source, known.model) == (key, model_hash(robot, summary_base(robot)))


def _robot_name(path: Path) -> str:
    """Return the name of the folder of a recording."""
    name = path.resolve().parent.name
    if name in (COMMON, SUMMARIES, ''):
        raise DynamicsError(f"'{path}' lies in a folder named '{name}'; expected a folder with the "
                            'name of its robot, such as recordings/arm_3/monday.mcap')
    return name


def _all_summaries(robot: 'Robot', out: Path
                   ) -> tuple[dict[str, list['RecordingSummary']], list[str]]:
    """Return ({robot: summaries}, warnings) of the folder; those of other models are left out."""
    from dynamics_node.identification import read_summary
    from dynamics_node.identification.recording_summary import model_hash, summary_base

    model, others = model_hash(robot, summary_base(robot)), 0
    found: dict[str, list[RecordingSummary]] = {}
    for path in sorted((out / SUMMARIES).glob('*/*.npz')):
        summary = read_summary(path)
        if summary.model == model:
            found.setdefault(path.parent.name, []).append(summary)
        else:
            others += 1
    return found, [f'{others} summaries in {out / SUMMARIES} are of another URDF or payload and '
                   'are left out'] if others else []


def _ranking(found: 'FleetIdentification') -> Iterator[str]:
    """Yield a line for each robot."""
    width = max(len(each.name) for each in found.robots)
    yield f'{"robot":<{width}}  recordings  deviation  change of torque  most unusual'
    for each in found.robots:
        yield (f'{each.name:<{width}}  {each.recordings:10d}  {each.distance:9.1f}  '
               f'{each.share:15.1%}   {each.unusual}')
        for drift in each.drifts:
            if drift.changed:
                changes = ', '.join(f'{name} ({z:+.1f})' for name, z in drift.changed.items())
                yield f'{"":<{width}}  changed within {drift.days:.1f} days: {changes}'
