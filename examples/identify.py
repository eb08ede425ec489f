"""Identify a simulated arm that differs from its URDF, then its payload (`make demo-identify`).

    python examples/identify.py [--out build/identify] [--seed 1]

MuJoCo simulates an arm whose inertias differ from the URDF by up to 30 %, with other friction,
rotors and noisy sensors (examples/sim/unknown_arm.py). With the wrong model it follows an
excitation trajectory; the recording is identified and written as a URDF and a parameter file. Then
the arm follows a fast motion with the model of these files, takes an unknown load, identifies it
from its torques, and follows the motion again.

Prints a table, writes plots and the report; the exit code is 0 only if every limit is met. True
parameters are used only for the comparison at the end.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent / 'sim'))
# Many small factorisations: threads wait for each other. On two cores with five other jobs the fit
# took 25 s with them, 2.4 s without.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

import numpy as np  # noqa: E402
import yaml  # noqa: E402
from bars import Bar, print_bars, rms  # noqa: E402
from fast_motion import fast_motion  # noqa: E402
from unknown_arm import PERIOD, Run, UnknownArm  # noqa: E402

from dynamics_node import Robot  # noqa: E402
from dynamics_node.control.spline import MotionSample  # noqa: E402
from dynamics_node.example_robots import ARM7  # noqa: E402
from dynamics_node.identification import (  # noqa: E402
    ExcitationSettings,
    Fourier,
    IdentifiedRecording,
    PayloadEstimate,
    ProgressBar,
    decimate,
    excitation,
    friction_yaml,
    identify_payload,
    identify_recording,
    is_consistent,
    parameter_values,
    prepare,
    trajectory_yaml,
    write_back,
)

FURTHER = ('stribeck_friction', 'stribeck_speed', 'friction_asymmetry', 'damping_asymmetry',
           'friction_speeds')   # parameters of the node, where a joint has them
MARGIN = 0.3        # of limits that the excitation leaves unused: the model is wrong
ITERATIONS = 5      # of its improvement
PERIODS = 2         # of 10 s that are recorded
LOAD = {'mass': 1.3, 'com': (0.03, -0.02, 0.07),
        'inertia': np.array([[4e-3, 5e-4, 0.0], [5e-4, 3e-3, -2e-4], [0.0, -2e-4, 2e-3]])}
FRAME = 'tool0'
RATE = 50.0         # [Hz] at which torques of unseen motion are compared
SIGMAS = 3.0


class Story(NamedTuple):
    """Results of the demo."""

    arm: UnknownArm
    excitation: Fourier
    identified: IdentifiedRecording
    robot: Robot             # read from the files that were written
    before: Run              # of the fast motion, by the URDF
    after: Run               # by the files
    loaded: Run              # with a load that the model does not have
    known: Run               # with the identified load
    unseen: dict             # {'before', 'after', 'measured'}: torques of another motion, (N, nv)
    load: PayloadEstimate


def main(argv=None):
    """Run the example; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--out', type=Path, default=Path('build/identify'), help='folder')
    parser.add_argument('--seed', type=int, default=1, help='of the random arm')
    arguments = parser.parse_args(argv)
    begin = time.monotonic()
    arguments.out.mkdir(parents=True, exist_ok=True)
    progress = ProgressBar()
    story = tell(arguments.out, arguments.seed, progress)
    progress(0.95, 'drawing')
    paths = write_pages(arguments.out, story)
    progress.clear()
    print(story.load)
    met = print_bars('identification of an unknown arm', judge(story))
    print('\n' + '\n'.join(str(path) for path in paths))
    print(f'{"all bars met" if met else "NOT all bars met"}, {time.monotonic() - begin:.0f} s')
    return 0 if met else 1


# Simulation --------------------------------------------------------------------------------------

def tell(out, seed, progress=lambda share, text: None, periods=PERIODS):
    """Simulate the whole demo; write URDF and parameters to the folder `out`."""
    robot, arm = Robot.from_urdf(ARM7), UnknownArm(ARM7, seed)
    fast = fast_motion()
    fast = fast.at(np.arange(0.0, fast.times[-1], PERIOD))
    progress(0.0, 'searching an excitation trajectory')
    found = excitation(robot, ExcitationSettings(margin=MARGIN, iterations=ITERATIONS),
                       within(progress, 0.0, 0.25))
    (out / 'excitation.yaml').write_text(trajectory_yaml(found.trajectory, periods=periods))
    recording = record(arm, robot, found.trajectory, periods, within(progress, 0.25, 0.5))
    identified = identify_recording(robot, recording, progress=within(progress, 0.5, 0.6))
    files = write_files(out, identified.result)
    model = read_files(*files)
    progress(0.6, 'following a fast motion, with the URDF and with the identified model')
    before, after = arm.follow(robot, fast), arm.follow(model, fast)
    other = excitation(robot, ExcitationSettings(margin=MARGIN, iterations=0, seed=7)).trajectory
    unseen = torques(robot, model, record(arm, model, other, 1, within(progress, 0.7, 0.8)))
    arm.simulated.attach('load', FRAME, **LOAD)
    loaded = arm.follow(model, fast)
    carried = record(arm, model, other, 1, within(progress, 0.8, 0.9))
    load = identify_payload(model, carried, FRAME, unloaded=recording)
    known = arm.follow(load.attached_to(model), fast)
    return Story(arm, found.trajectory, identified, model, before, after, loaded, known, unseen,
                 load)


def within(progress, start, stop):
    """Return a progress callback for a part of the whole."""
    return lambda share, text: progress(start + (stop - start) * share, text)


def record(arm, robot, trajectory, periods, progress):
    """Return the recording of a driver while the arm follows a Fourier motion."""
    t = np.arange(0.0, periods * trajectory.period, PERIOD)
    return arm.follow(robot, MotionSample(*trajectory.sample(t)), lambda share: progress(
        share, f'recording {t[-1]:.0f} s of motion')).recording


def write_files(out, found):
    """Write the identified URDF and parameter file; return their paths."""
    paths = out / 'identified.urdf', out / 'friction.yaml'
    paths[0].write_text(write_back(ARM7.read_text(), found.robot))
    paths[1].write_text(friction_yaml(found.layout, found.values))
    return paths


def read_files(urdf, parameters):
    """Return the robot of these files, as the node reads them."""
    values = yaml.safe_load(parameters.read_text())['/**/dynamics_node']['ros__parameters']
    robot = Robot.from_urdf(urdf, armature=values['armature'],
                            friction_speed=values['friction_speed'])
    return robot.with_friction(values['damping'], values['dry_friction'], *map(values.get, FURTHER))


def torques(robot, model, raw):
    """Return the torques of a recording, measured and predicted by both models, (N, nv) each.

    All three are filtered alike, against sensor noise.
    """
    seen = prepare(robot, raw).recording
    state, factor = (seen.q, seen.v, seen.a), round(1.0 / (RATE * PERIOD))
    return {name: decimate(tau, factor) for name, tau in (
        ('measured', seen.tau), ('before', robot.inverse_dynamics(*state)),
        ('after', model.inverse_dynamics(*state)))}


# Comparison ---------------------------------------------------------------------------------------

def judge(story):
    """Return the measured errors with their limits."""
    found, load = story.identified.result, story.load
    before, after = (rms(story.unseen['measured'] - story.unseen[name])
                     for name in ('before', 'after'))
    outside = np.abs(deviations(story.arm, found)) > SIGMAS
    impossible = sum(not is_consistent(found.values[found.layout.of_body(i)])
                     for i in range(len(found.layout.bodies)))
    shift = np.linalg.norm(load.com - LOAD['com'])
    off = abs(load.mass / LOAD['mass'] - 1.0)
    return [
        Bar('torque error on unseen motion, RMS', after, before / 10.0, 'N m',
            f'{before / after:.1f} times smaller than {before:.3g}'),
        Bar(f'base parameters beyond {SIGMAS:g} sigma', 100.0 * outside.mean(), 5.0, '%',
            f'{outside.sum()} of {outside.size}'),
        Bar('inconsistent links', impossible, 0.0, ''),
        Bar('tracking error, RMS', 1e3 * story.after.rms, 1e3 * story.before.rms / 5.0, 'mrad',
            f'{story.before.rms / story.after.rms:.1f} times smaller'),
        Bar('error of the load mass', 100.0 * off, 1.0, '%',
            f'{(load.mass - LOAD["mass"]) / load.sigma["mass"]:+.1f} sigma'),
        Bar('error of its centre', 1e3 * shift, 5.0, 'mm'),
        Bar('tracking error with the load known', 1e3 * story.known.rms,
            1e3 * story.loaded.rms / 5.0, 'mrad',
            f'{story.loaded.rms / story.known.rms:.1f} times smaller')]


def deviations(arm, found):
    """Return the error of each base parameter, in standard deviations, (b,)."""
    truth = parameter_values(Robot.from_urdf(arm.urdf, armature=arm.armature), found.layout)
    return (found.base_values - found.base.values(truth)) / found.base_spread.sigma


def write_pages(out, story):
    """Write pictures and the report; return all paths."""
    from identify_pictures import plot_torques, plot_tracking

    from dynamics_node.reports import identification_report_page
    identified = story.identified
    html, answers = identification_report_page(
        identified.result, Robot.from_urdf(ARM7), identified.prepared.recording,
        {'of': 'a simulated arm'}, identified.prepared.warnings)
    paths = [out / name for name in ('report.html', 'report.json', 'torques.png', 'tracking.png')]
    paths[0].write_text(html, encoding='utf-8')
    paths[1].write_text(json.dumps(answers, indent=1), encoding='utf-8')
    plot_torques(paths[2], story, RATE)
    plot_tracking(paths[3], story, deviations(story.arm, identified.result))
    return [out / 'excitation.yaml', out / 'identified.urdf', out / 'friction.yaml', *paths]


if __name__ == '__main__':
    sys.exit(main())
