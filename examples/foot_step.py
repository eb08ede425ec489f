"""Simulate a step of a quadruped in mode whole_body: lean, unload a foot, lift it, place it.

    python examples/foot_step.py [--out build/foot-step]

Solo12 of example-robot-data on MuJoCo's ground, driven by the real node in lockstep. Each phase is
one message on ~/whole_body_reference. Ends with a table of bars and a plot; the exit code is 0 only
if every bar is met.
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent / 'sim'))
from bars import Bar, print_bars  # noqa: E402
from quadruped import SimulatedQuadruped  # noqa: E402
from weight_shift import FEET, GROUND, TORQUE, solo12, standing  # noqa: E402

from dynamics_node import Constraint, Robot, msg  # noqa: E402
from dynamics_node.safety import SafetySettings  # noqa: E402

LIFTED = 0                                 # the foot that takes the step: front left
CONTACTS = [Constraint(foot, 'point_contact', foot, friction=0.6) for foot in FEET]
LEAN = np.array([-0.05, -0.04, 0.0])       # [m] of the centre of mass, away from this foot
HIGH, AHEAD = 0.05, 0.03                   # [m] how high it is lifted, how far ahead it is placed
DEEP = 0.002                               # [m] below the ground: the foot meets it for certain
STIFFNESS, FOOT_STIFFNESS = 200.0, 400.0   # [1/s^2]
RATE = 250.0                               # [Hz] of joint states and torques
FIRST = 0.6                                # [s] on enable, before the first message
REPORT = 0.04                              # [s] in which the node reports a refusal
MILLI = 1e3


class Phase(NamedTuple):
    """One message, and the time until the next."""

    name: str
    seconds: float
    message: msg.WholeBodyReference


class Step(NamedTuple):
    """What happened, N samples."""

    t: np.ndarray         # (N,) [s]
    com: np.ndarray       # (N, 3) [m]
    torque: np.ndarray    # (N, 12) [N m]
    force: np.ndarray     # (N, 4, 3) on the feet, as MuJoCo has it [N]
    feet: np.ndarray      # (N, 4, 3) [m]
    phases: dict          # name -> slice of its samples


def take_step(loop, rate=RATE, pace=1.0):
    """Return the Step of a robot that a loop drives.

    :param loop: has enable(q, v), send(message, run), torque(q, v) -> (12,), see StandingLoop.
    :param rate: of joint states and torques [Hz].
    :param pace: how much faster than in the demo the phases follow each other.
    """
    robot = Robot.from_urdf(solo12(), base='floating', friction=False, compile=False)
    simulated = SimulatedQuadruped(solo12(), FEET, GROUND)
    q = standing(robot)
    simulated.set(q)
    loop.enable(simulated.q, simulated.v)
    rows, spans = [], {}

    def run(seconds):
        for _ in range(round(seconds / pace * rate)):
            torque = loop.torque(simulated.q, simulated.v)
            simulated.step(np.concatenate([np.zeros(6), torque]),
                           round(1.0 / rate / simulated.timestep))
            rows.append((len(rows) / rate, robot.center_of_mass(simulated.q), torque,
                         simulated.foot_forces(), simulated.foot_positions().copy()))

    run(FIRST)
    spans['enable'] = slice(0, len(rows))
    for name, seconds, message in plan(robot, q):
        first, message.blend = len(rows), message.blend / pace
        loop.send(message, lambda: run(REPORT))
        run(seconds)
        spans[name] = slice(first, len(rows))
    return Step(*map(np.array, zip(*rows)), spans)


def plan(robot, q):
    """Return the Phases of a step from the configuration q, (nq,)."""
    home = robot.center_of_mass(q)
    away = home + LEAN
    foot = robot.frame_pose(q, FEET[LIFTED])[:3, 3]
    there = foot + [AHEAD, 0.0, 0.0]
    others = FEET[:LIFTED] + FEET[LIFTED + 1:]
    up, down = [0.0, 0.0, HIGH], [0.0, 0.0, -DEEP]
    return [Phase('lean', 1.6, reference(q, away, FEET, blend=0.8)),
            Phase('unload', 0.6, reference(q, away, others, foot, blend=0.3)),
            Phase('lift', 0.8, reference(q, away, others, foot + up, blend=0.4)),
            Phase('move', 0.8, reference(q, away, others, there + up, blend=0.4)),
            Phase('lower', 1.0, reference(q, away, others, there + down, blend=0.6)),
            Phase('load', 0.6, reference(q, away, FEET, blend=0.3)),
            Phase('return', 2.0, reference(q, home, FEET, blend=0.8))]


def reference(q, com, contacts, foot=None, blend=0.0):
    """Return the message with a centre of mass, the base level, and a foot at a place, or none."""
    task = {'stiffness': STIFFNESS}
    tasks = [msg.Task(name='com', kind='center_of_mass', position=list(map(float, com)), **task),
             msg.Task(name='base', kind='frame', frame='base_link', axes=['rx', 'ry', 'rz'],
                      position=[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], **task),
             msg.Task(name='posture', kind='posture', weight=1e-3, position=q[7:].tolist(),
                      stiffness=25.0),
             msg.Task(name='even', kind='force', weight=1e-4),
             msg.Task(name='effort', kind='torque', weight=1e-4)]
    if foot is not None:
        tasks.append(msg.Task(name='foot', kind='frame', frame=FEET[LIFTED], axes=['x', 'y', 'z'],
                              position=[*map(float, foot), 0.0, 0.0, 0.0, 1.0],
                              stiffness=FOOT_STIFFNESS))
    return msg.WholeBodyReference(tasks=tasks, contacts=list(contacts), blend=blend)


def step_bars(run):
    """Return the Bars of a Step."""
    at = {name: span.stop - 1 for name, span in run.phases.items()}
    begin = run.phases['enable'].stop - 1
    stay = [k for k in range(4) if k != LIFTED]
    slip = np.linalg.norm((run.feet - run.feet[begin])[begin:, stay, :2], axis=2).max()
    foot = run.feet[:, LIFTED]
    lift = run.phases['lift']
    air = slice((lift.start + lift.stop) // 2, run.phases['move'].stop)
    unload = run.force[run.phases['unload'], LIFTED, 2]
    slew = np.abs(np.diff(run.torque, axis=0)) / np.diff(run.t)[:, None]
    return [Bar('centre of mass off, leaning', MILLI * np.linalg.norm(
                run.com[at['lean']] - run.com[begin] - LEAN), 3.0, 'mm'),
            Bar('centre of mass off, at the end', MILLI * np.linalg.norm(
                run.com[-1] - run.com[begin]), 1.0, 'mm'),
            Bar('foot below its height, lifted', MILLI * (HIGH - foot[at['lift'], 2]), 2.0, 'mm'),
            Bar('force on the lifted foot, greatest',
                np.linalg.norm(run.force[air, LIFTED], axis=1).max(), 1e-9, 'N', 'measured'),
            Bar('unloading: greatest step of its force', -np.diff(unload).min(),
                0.1 * unload[0], 'N', f'of {unload[0]:.2f} N'),
            Bar('foot placed beside its place', MILLI * np.linalg.norm(
                foot[-1, :2] - foot[begin, :2] - [AHEAD, 0.0]), 1.0, 'mm'),
            Bar('force on the placed foot, lack of', 1.0 - run.force[-1, LIFTED, 2], 0.0, 'N',
                f'{run.force[-1, LIFTED, 2]:.2f} N'),
            Bar('slip of a foot that stays, worst', MILLI * slip, 1.0, 'mm'),
            Bar('torque over its limit, greatest', np.abs(run.torque).max() / TORQUE, 1.0, ''),
            Bar('slew over the limit of the gate, greatest',
                slew.max() * SafetySettings().slew_time / TORQUE, 0.9, '', 'it limits nothing')]


def plot_step(path, run):
    """Plot forces of the feet, height of the lifted foot and torques over time."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    figure = Figure(figsize=(9, 6.5), layout='constrained')
    force, height, torque = figure.subplots(3, 1, sharex=True)
    for k, name in enumerate(FEET):
        force.plot(run.t, run.force[:, k, 2], linewidth=1.1, label=name)
    force.set(ylabel='normal force [N]', title='A step of Solo12 in mode whole_body')
    force.legend(frameon=False, ncols=4, fontsize=8)
    height.plot(run.t, MILLI * run.feet[:, LIFTED, 2], label=f'{FEET[LIFTED]}, height')
    height.plot(run.t, MILLI * (run.com - run.com[0])[:, 1], label='centre of mass, y')
    height.set(ylabel='[mm]')
    height.legend(frameon=False, fontsize=8)
    torque.plot(run.t, run.torque, linewidth=0.8)
    torque.set(ylabel='torques [N m]', xlabel='time [s]')
    for name, span in run.phases.items():
        begin = run.t[span.start]
        for axes in (force, height, torque):
            axes.axvline(begin, color='0.8', linewidth=0.8)
        torque.text(begin, torque.get_ylim()[1], name, fontsize=7, va='bottom')
    FigureCanvasAgg(figure).print_png(str(path))


def main():
    """Take the step through the node; return the exit code."""
    from processes import own_domain
    from standing_loop import StandingLoop
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--out', type=Path, default=Path('build/foot-step'),
                        help='folder for logs and the picture')
    out = parser.parse_args().out
    with own_domain(), StandingLoop(out, solo12(), CONTACTS, RATE, TORQUE) as loop:
        run = take_step(loop)
    plot_step(out / 'foot_step.png', run)
    print(out / 'foot_step.png')
    return 0 if print_bars('the quadruped takes a step', step_bars(run)) else 1


if __name__ == '__main__':
    sys.exit(main())
