"""Measure how far an arm falls, coasts or jumps in MuJoCo when something goes wrong.

python benchmark/torque_events.py [--robots arm7 panda] [--only pause disable]
       [--processes] [--save FILE] [--page]

The real torque code of the node runs in lockstep with MuJoCo, see event_rig.py; events: see
event_list.py. Prints a table; writes torque_events.json and torque_events.png, the picture with the
figures of torque_events_before.json beside those of this run.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import event_files
import event_report
import numpy as np
from braking import shortest_stop
from event_list import BRAKED, HALF, events
from event_motion import prepared
from event_rig import subjects

from dynamics_node import Robot
from dynamics_node.safety import SafetySettings, limits_of

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / 'build' / 'benchmark'
PAGE = HERE.parent / 'docs' / 'torque_events.md'
BEFORE = HERE / 'torque_events_before.json'
WINDOW = 1.0                                   # [s] after the event
DRIVERS = {'holds': None, 'times out': 0.1}    # what the driver does without a torque: timeout [s]


class Row(NamedTuple):
    """What an event did to an arm, within WINDOW after it."""

    robot: str
    group: str
    event: str
    motion: str
    driver: str
    tool: float         # greatest distance of the tool from where it should be [mm]
    joint: float        # greatest displacement of a joint from where it should be [mrad]
    travel: float       # greatest displacement of a joint from where it was at the event [mrad]
    speed: float        # greatest joint speed, as a share of its limit
    jump: float         # greatest change between two torque messages over the effort limit
    stop: float | None  # disables: travel over the shortest stop within effort and slew limits
    hard_stop: float | None   # likewise, over the shortest stop within effort limits alone
    distances: list     # disables: (travel, shortest stop) of each joint [mrad]
    stopped: bool       # whether the arm rests in the end
    state: str          # of the gate in the end
    fault: str
    refused: str        # why a request was refused


class Bench:
    """A robot, and the motion without any event for comparison."""

    def __init__(self, subject, compiled=True):
        self.subject = subject
        self.robot = Robot.from_urdf(subject.text, friction=False, compile=compiled)
        if compiled:
            self.robot.compile(wait=True)
        limits = limits_of(self.robot)
        self.velocity, self.effort = limits.velocity, limits.effort
        self.slew = self.effort / SafetySettings().slew_time
        self._undisturbed = {}

    def measure(self, event, motion):
        """Return the Rows of an event: one per driver, or one if it makes no difference."""
        (first, silence), late = self._row(event, motion, 'holds'), DRIVERS['times out']
        other = first if silence <= late else self._row(event, motion, 'times out')[0]
        if other._replace(driver='holds') == first:
            return [first._replace(driver='either')]
        return [first, other]

    def _row(self, event, motion, driver):
        """Return the Row of an event and the longest time without a torque [s]."""
        rig = prepared(event, self.subject, motion, DRIVERS[driver], self.robot)
        q, v = rig.arm.q, rig.arm.v
        event.happen(rig)
        trace, diverged = _recorded(rig)
        should = self._should(event, motion, driver, trace, q, v)
        row = self.row(event, motion, driver, trace, q, should,
                       'diverged' if diverged else rig.state, rig.pipeline.gate.status().reason,
                       rig.refused)
        if event.group == 'disable' and motion == HALF:
            row = self._with_stop(row, trace, q, v)
        return row, trace.silence

    def row(self, event, motion, driver, trace, q, should, *rest):
        """Return the Row of a Trace.

        :param q: at the event; should: where the arm should be, (N, n).
        :param rest: state, fault, refused.
        """
        tool = np.array([self._tool(each) for each in should])
        return Row(
            self.subject.name, event.group, event.name, motion, driver,
            1e3 * float(np.linalg.norm(trace.tool - tool, axis=1).max()),
            1e3 * float(np.abs(trace.q - should).max()), 1e3 * float(np.abs(trace.q - q).max()),
            float((np.abs(trace.v) / self.velocity).max()),
            float((np.abs(np.diff(trace.messages, axis=0)) / self.effort).max(initial=0.0)),
            None, None, [], bool((np.abs(trace.v[-1]) < 0.01 * self.velocity).all()), *rest)

    def _with_stop(self, row, trace, q, v):
        """Return the Row with the travel against that of the shortest stop; norms over joints."""
        travel = np.abs(trace.q - q).max(axis=0)
        soft, hard = (shortest_stop(self.robot, q, v, self.effort, slew).distance
                      for slew in (self.slew, None))
        distances = np.round(1e3 * np.stack([travel, soft], axis=1), 1).tolist()
        return row._replace(stop=float(np.linalg.norm(travel) / np.linalg.norm(soft)),
                            hard_stop=float(np.linalg.norm(travel) / np.linalg.norm(hard)),
                            distances=distances)

    def _should(self, event, motion, driver, trace, q, v):
        """Return where the arm should be: as without the event, then the shortest stop, (N, n).

        :param q, v: at the event.
        """
        n = len(trace.q)
        if motion == BRAKED:
            return np.tile(q, (n, 1))
        ended = 0 if event.stops else n if trace.ended is None else trace.ended
        if not ended:
            return self.stopped_path(q, v, n)
        undisturbed = self._without(event, motion, driver)
        wanted = undisturbed.q[:n].copy()
        if ended < n:
            wanted[ended:] = self.stopped_path(undisturbed.q[ended - 1], undisturbed.v[ended - 1],
                                               n - ended)
        return wanted

    def stopped_path(self, q, v, n):
        """Return the positions of the shortest stop, one per millisecond, (n, joints)."""
        stop = shortest_stop(self.robot, q, v, self.effort, self.slew)
        return stop.at(1e-3 * np.arange(1, n + 1))

    def _without(self, event, motion, driver):
        """Return the Trace of the same run without the event."""
        key = motion, event.mode, event.rate, str(event.torque), str(event.safety)
        if key not in self._undisturbed:
            quiet = event._replace(happen=lambda rig: None, table=False)
            rig = prepared(quiet, self.subject, motion, DRIVERS[driver], self.robot)
            self._undisturbed[key] = _recorded(rig)[0]
        return self._undisturbed[key]

    def _tool(self, q):
        return self.robot.frame_pose(q, self.subject.tool)[:3, 3]


def _recorded(rig):
    """Return the Trace of the window, and whether the simulation diverged."""
    try:
        rig.run(WINDOW)
    except ArithmeticError:
        return rig.trace(), True
    return rig.trace(), False


def measure(names=('arm7', 'panda'), groups=(), tick=lambda share: None):
    """Return the Rows of all events, or of some groups."""
    chosen = [event for event in events() if not groups or event.group in groups]
    plan = [(name, event, motion) for name in names for event in chosen
            for motion in event.motions]
    benches = {name: Bench(subject) for name, subject in subjects().items() if name in names}
    rows = []
    for k, (name, event, motion) in enumerate(plan):
        rows += benches[name].measure(event, motion)
        tick((k + 1) / len(plan))
    return rows


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--robots', nargs='+', choices=['arm7', 'panda'],
                        default=['arm7', 'panda'])
    parser.add_argument('--only', nargs='+', default=[], help='groups of events')
    parser.add_argument('--processes', action='store_true',
                        help='also signal real processes, in real time: needs an idle machine')
    parser.add_argument('--save', type=Path, help='also write the figures here, for comparison')
    parser.add_argument('--page', action='store_true',
                        help='write the table into docs/torque_events.md')
    parser.add_argument('--out', type=Path, default=OUT, help='folder of the results')
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    rows = measure(options.robots, options.only, _show)
    if options.processes:
        import torque_process_events
        rows += torque_process_events.measure(Bench(subjects()['arm7']), options.out)
    write(rows, options.out, options.save)
    if options.page:
        write_page(rows)


def write_page(rows):
    """Replace the table at the end of docs/torque_events.md."""
    text, heading, _ = PAGE.read_text().partition('\n## Figures\n')
    PAGE.write_text(f'{text}{heading}\n{event_report.markdown(rows, _before())}\n')


def _before():
    return event_files.read(BEFORE, Row) if BEFORE.exists() else []


def write(rows, out, save=None):
    """Print the table; write JSON and picture."""
    print(event_report.table(rows))
    print(event_report.verdict(rows))
    for path in filter(None, (out / 'torque_events.json', save)):
        event_files.write(path, rows, _commit())
    event_report.draw(rows, _before(), out / 'torque_events.png')
    print(f'\nwritten: {out / "torque_events.json"}, {out / "torque_events.png"}')


def _show(share):
    print(f'\r{share:4.0%}', end='', file=sys.stderr, flush=True)


def _commit():
    """Return the last commit that changed the package, '' outside a repository."""
    done = subprocess.run(['git', 'log', '-1', '--format=%h', '--', 'dynamics_node'],
                          cwd=HERE.parent, text=True, capture_output=True)
    return done.stdout.strip()


if __name__ == '__main__':
    main()
