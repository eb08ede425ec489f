"""Compare the speed of dynamics_node, Pinocchio and MuJoCo, side by side in one process.

python benchmark/run.py [--quick] [--native] [--robots panda ur5 kinova talos]
                        [--out build/benchmark]

Prints tables; writes results.json and ratios.png, and what torque_events.py writes.
"""

import argparse
import importlib.util
import os
import sys
from pathlib import Path
from typing import NamedTuple

from peer_process import Absent
from progress import Progress
from robots import FILES

OUT = Path(__file__).resolve().parent.parent / 'build' / 'benchmark'


class Effort(NamedTuple):
    """Number of repetitions of each measurement."""

    single: int = 300
    batch: int = 60
    chain: int = 100
    startup: int = 3
    ros: int = 3000
    ros_seconds: int = 60
    poses: int = 1000
    links: tuple = (5, 10, 20, 40, 80)
    events: tuple = ()      # groups of torque_events.py; empty: all
    humanoid: bool = True   # whether TALOS is compiled anew


QUICK = Effort(single=80, batch=10, chain=30, startup=1, ros=500, ros_seconds=5,
               poses=200, links=(5, 10, 20, 40), events=('disable',), humanoid=False)


def main(arguments=None):
    options = parse(arguments)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        os.environ['DYNAMICS_NODE_THREADS'] = '1'  # unless a run says how many threads
        # Keep the kernels of this benchmark out of the user's cache.
        os.environ.setdefault('DYNAMICS_NODE_CACHE', str(options.out / 'cache'))
        found = measure(options, QUICK if options.quick else Effort())
        report(found, options.out)
    except OSError as error:
        sys.exit(f'benchmark: {error}')
    except ImportError as error:
        sys.exit(f'benchmark: {error}; the peers come with requirements/test.txt')


def parse(arguments):
    parser = argparse.ArgumentParser(description='Compare dynamics_node with its peers: speed.')
    parser.add_argument('--quick', action='store_true',
                        help='fewer repetitions: less than a minute, less accurate')
    parser.add_argument('--native', action='store_true',
                        help="also Pinocchio's C++ functions, compiled for this machine: once, in "
                             'three to five minutes (native_peer.py says what it needs)')
    parser.add_argument('--robots', nargs='+', choices=list(FILES), default=list(FILES),
                        metavar='NAME', help=f'of {", ".join(FILES)}; default: all')
    parser.add_argument('--out', type=Path, default=OUT, help='folder of the results')
    return parser.parse_args(arguments)


def measure(options, effort):
    """Return {'machine': ..., 'ratios': [...]}, and so on: rows of each kind."""
    import features

    found = {'machine': features.machine(), 'ratios': [], 'costs': [], 'points': [], 'ros': [],
             'solutions': [], 'steps': [], 'events': [], 'quantities': [], 'natives': [],
             'skipped': []}
    stages = list(plan(options.robots, effort, options.native))
    progress = Progress(sum(weight for _, weight, _, _ in stages))
    for label, weight, kind, work in stages:
        progress.stage(label, weight)
        try:
            results = work(progress)
        except Absent as reason:
            found['skipped'].append(f'{label}: skipped: {reason}')
            continue
        if kind:
            found[kind] += results
    progress.clear()
    return found


def plan(robots, effort, native=False):
    """Yield (label, expected seconds, kind of result, work) of all stages."""
    import humanoids
    import inverse_kinematics
    import native_peer
    import quantities
    import scaling
    import startup
    import tsid_peer
    import whole_body
    from constraints import NAMES, ConstraintRace
    from derivatives import DerivativeRace
    from engines import DERIVATIVES
    from floating_base import ALL, FloatingRace
    from race import ARGUMENTS, Race

    for name in robots:
        race = []  # holds the Race once its stage has come

        def prepare(tick, name=name, race=race):
            race.append(Race(name))
            race[0].check()

        slow = 4.0 if name == 'talos' else 1.0
        yield f'{name}: do the engines agree?', slow, None, prepare
        for quantity in ARGUMENTS:
            words = quantity.replace('_', ' ')
            yield (f'{name}: {words}, one state', slow * effort.single / 300, 'ratios',
                   lambda tick, race=race, quantity=quantity:
                   race[0].one_by_one(quantity, effort.single, tick))
            yield (f'{name}: {words}, batch', slow * effort.batch / 25, 'ratios',
                   lambda tick, race=race, quantity=quantity:
                   race[0].in_batches(quantity, effort.batch, tick))
        derivatives = []  # holds the DerivativeRace once its stage has come

        def differentiate(tick, race=race, derivatives=derivatives):
            derivatives.append(DerivativeRace(race[0]))
            derivatives[0].check()

        if name in ('panda', 'ur5', 'talos'):
            yield f'{name}: do the derivatives agree?', 5.0 * slow, None, differentiate
            for quantity in DERIVATIVES:
                words = quantity.replace('_', ' ')
                for states, turns, method in (('one state', effort.single // 3, 'one_by_one'),
                                              ('batch', effort.batch, 'in_batches')):
                    yield (f'{name}: {words}, {states}', slow * turns / 20, 'ratios',
                           lambda tick, race=derivatives, quantity=quantity, turns=turns,
                           method=method: getattr(race[0], method)(quantity, turns, tick))
            if native:
                yield (f"{name}: Pinocchio's C++", 10.0 * slow, 'natives',
                       lambda tick, race=race: native_peer.measure(race[0], effort.single // 3,
                                                                   tick))
    if 'talos' in robots:
        floating = []  # holds the FloatingRace once its stage has come

        def stand_free(tick):
            floating.append(FloatingRace())
            floating[0].check()

        yield 'talos, floating base: do the engines agree?', 8.0, None, stand_free
        for quantity in ALL:
            for states, turns, method in (('one state', effort.single // 3, 'one_by_one'),
                                          ('batch', effort.batch, 'in_batches')):
                yield (f'talos, floating base: {quantity.replace("_", " ")}, {states}',
                       turns / 10, 'ratios',
                       lambda tick, quantity=quantity, turns=turns, method=method:
                       getattr(floating[0], method)(quantity, turns, tick))
    for name in NAMES:
        race = []  # holds the ConstraintRace once its stage has come

        def constrain(tick, name=name, race=race):
            race.append(ConstraintRace(name))
            race[0].check()

        yield f'{name}: do the engines agree?', 5.0, None, constrain
        for states, turns, method in (('one state', effort.single // 3, 'one_by_one'),
                                      ('batch', effort.batch, 'in_batches')):
            yield (f'{name}: constrained forward dynamics, {states}', turns / 20, 'ratios',
                   lambda tick, race=race, turns=turns, method=method:
                   getattr(race[0], method)(turns, tick))
    for name in (name for name in robots if name in inverse_kinematics.TIPS):
        yield (f'{name}: inverse kinematics', 2.0 + effort.poses / 400, 'solutions',
               lambda tick, name=name: inverse_kinematics.measure(name, effort.poses, tick))
    for name in whole_body.NAMES:
        yield (f'{name}: whole body', 4.0 + effort.single / 100, 'steps',
               lambda tick, name=name: whole_body.measure(name, effort.single // 5, tick))
    for name in tsid_peer.NAMES:
        yield (f'{name}: whole body, tsid', 4.0 + effort.single / 100, 'natives',
               lambda tick, name=name: tsid_peer.measure(name, effort.single // 5, tick))
    for label, work in (('panda', quantities.measure_arm), ('five-bar', quantities.measure_closed)):
        yield (f'{label}: further quantities', 10.0 + effort.single / 20, 'quantities',
               lambda tick, work=work: work(effort.single // 5, tick))
    for links in effort.links:
        yield (f'a chain of {links} links', links / 8, 'points',
               lambda tick, links=links: scaling.measure(links, effort.chain, tick))
    yield ('7 axes: from URDF to results', 5.0 * effort.startup, 'costs',
           lambda tick: startup.arm(effort.startup, tick))
    yield ('the node: calls, torques, torques under load',
           60.0 + effort.ros / 120 + 5.0 * effort.ros_seconds, 'ros',
           lambda tick: startup.through_ros(effort.ros, effort.ros_seconds, tick))
    if importlib.util.find_spec('rclpy') is not None:   # requests are messages of ROS
        yield ('torques: what events do to an arm', 30.0 if effort.events else 150.0, 'events',
               lambda tick: torque_events(effort.events, tick))
    if effort.humanoid and 'talos' in robots:
        for name, label in humanoids.NAMES.items():
            yield (f'{label}: compile everything', 40.0, 'costs',
                   lambda tick, name=name: humanoids.measure(name, effort.startup, tick))
        yield 'chains: compile', 4.0, 'costs', humanoids.chains


def torque_events(groups, tick):
    """Return the rows of torque_events.py."""
    import torque_events
    return torque_events.measure(groups=groups, tick=tick)


def report(found, out):
    """Print the tables, write the files."""
    import derivatives
    import features
    import plot
    import race
    import results
    import scaling
    import table

    build, exponents = features.pinocchio_build(), scaling.exponents(found['points'])
    parts = [', '.join(f'{what} {which}' for what, which in found['machine'].items()),
             features.busy(found['machine']), f'{features.NOTE}\n{features.describe(build)}',
             table.LEGEND, table.ratios(found['ratios'], 1),
             table.native(found['natives'], found['skipped']),
             table.ratios(found['ratios'], race.BATCH),
             table.ratios(found['ratios'], derivatives.BATCH), table.costs(found['costs']),
             table.costs(found['ros'], 'Through ROS: client and node are two processes, in turns'),
             table.solutions(found['solutions']),
             table.costs(found['steps'], 'One step of the whole-body problem'),
             table.quantities(found['quantities']), table.scaling(found['points'], exponents),
             table.verdict([*found['ratios'], *found['natives'], *found['costs'],
                            *found['ros'], *found['solutions'], *found['steps']])]
    print('\n\n'.join(filter(None, parts)))
    everything = {'machine': found['machine'], 'pinocchio': {**build, 'note': features.NOTE},
                  **{kind: [{**row._asdict(), 'met': getattr(row, 'met', None)}
                            for row in found[kind]]
                     for kind in ('ratios', 'natives', 'costs', 'points', 'ros', 'solutions',
                                  'steps', 'quantities')},
                  'exponents': exponents, 'skipped': found['skipped']}
    (out / 'results.json').write_text(results.json_text(everything))
    plot.draw(found['ratios'], out / 'ratios.png')
    if found['events']:
        from torque_events import write
        write(found['events'], out)
    print(f'\nwritten: {out / "results.json"}, {out / "ratios.png"}')


if __name__ == '__main__':
    try:
        main()
    except KeyboardInterrupt:
        print('\nbenchmark: stopped', file=sys.stderr, flush=True)
        os._exit(130)  # at once: sys.exit would wait for the kernel being compiled
