"""Find which encoder offset or link length explains the torques that a model does not predict.

    python examples/calibration_error.py [--save build/calibration_error/calibration_error.png]

An arm holds still in some poses. It differs from its URDF in one encoder offset and one link
length, and its torque sensors have noise. The sensitivity of the torques to each possible error is
a derivative along a scalar: of the position for an encoder, of a joint's origin for a link length
or a base that is not level. The error whose sensitivity explains most of the residual is fitted,
then the next one, until the rest is noise. The exit code is 0 only if exactly the two true errors
are found.
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7

POSES = 40
NOISE = 0.05                        # [N m] standard deviation of a torque sensor
ENCODER, OFFSET = 'joint_2', np.deg2rad(0.8)     # [rad] true position minus measured position
LENGTHENED, LONGER = 'upper arm', 0.006          # [m]
# The joint whose origin moves, and how. The upper arm is two links in line: a longer one of either
# changes all torques in the same proportion, so torques cannot tell which; likewise the forearm.
GEOMETRY = {'length of the upper arm': ('joint_4', (0, 0, 1, 0, 0, 0)),
            'length of the forearm': ('joint_6', (0, 0, 1, 0, 0, 0)),
            'length of the wrist': ('joint_7', (0, -1, 0, 0, 0, 0)),
            'tilt of the base about x': ('joint_1', (0, 0, 0, 1, 0, 0)),
            'tilt of the base about y': ('joint_1', (0, 0, 0, 0, 1, 0))}
# The rest is noise when the best further error explains less than this share of it: of 280 numbers
# of noise, one error of twelve explains 5 % by chance in one of 400 cases.
LEAST_SHARE = 0.05
NO_EFFECT = 1e-9                    # of a sum of squared sensitivities
CLOSE = 0.1                         # relative, of a fitted error
TRUE = {f'encoder of {ENCODER}': OFFSET, f'length of the {LENGTHENED}': LONGER}


class PossibleError(NamedTuple):
    """An error of the model, and what it does to the torques."""

    name: str
    unit: str
    per_unit: float          # the unit in rad or m
    sensitivity: np.ndarray  # (poses, joints) [N m/rad or N m/m]


class Step(NamedTuple):
    """The errors found so far, and what each other one would explain of the rest."""

    found: dict[str, float]  # {name: value} fitted together [rad or m]
    rms: float               # of the rest [N m]
    shares: np.ndarray       # (errors,) of the rest's sum of squares


def main(argv=None):
    """Run the example; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--save', type=Path,
                        default=Path('build/calibration_error/calibration_error.png'),
                        help='path of the picture (%(default)s)')
    parser.add_argument('--noise', type=float, default=NOISE, help='[N m] (%(default)s)')
    arguments = parser.parse_args(argv)

    robot, rng = Robot.from_urdf(ARM7), np.random.default_rng(2)
    q = np.array([robot.random_configuration(rng) for _ in range(POSES)])
    residual = measured_torques(robot, q, rng, arguments.noise) - robot.gravity_torque(q)
    possible = possible_errors(robot, q)
    steps = explain(possible, residual)
    print_steps(possible, steps)
    arguments.save.parent.mkdir(parents=True, exist_ok=True)
    plot(arguments.save, possible, steps)
    good = is_true(steps[-1].found)
    print(f'\n{arguments.save}\n{"the true errors were found" if good else "NOT the true errors"}')
    return 0 if good else 1


def measured_torques(robot, q, rng, noise):
    """Return the torques of the true arm at the measured positions q, (poses, joints)."""
    text, origin = ARM7.read_text(), 'xyz="0 0 0.20" rpy="1.57'   # of joint_4
    true = Robot.from_urdf(text.replace(origin, origin.replace('0.20', f'{0.2 + LONGER:.6f}')))
    offset = OFFSET * np.array([name == ENCODER for name in robot.joint_names])
    return true.gravity_torque(q + offset) + noise * rng.normal(size=q.shape)


def possible_errors(robot, q):
    """Return a PossibleError per encoder, and those of GEOMETRY."""
    still, errors = np.zeros(robot.nv), []
    for name, unit in zip(robot.joint_names, np.eye(robot.nv)):
        rate = robot.inverse_dynamics_directional_derivative(q, still, still, dq=unit)
        errors.append(PossibleError(f'encoder of {name}', 'deg', np.deg2rad(1.0), rate))
    for name, (joint, moved) in GEOMETRY.items():
        rate = robot.inverse_dynamics_directional_derivative(q, still, still,
                                                             dorigins={joint: moved})
        unit = ('mm', 1e-3) if any(moved[:3]) else ('deg', np.deg2rad(1.0))
        errors.append(PossibleError(name, *unit, rate))
    return errors


def explain(possible, residual):
    """Return the Steps: the error that explains most is added, until none explains much."""
    S = np.stack([error.sensitivity.ravel() for error in possible], axis=1)
    torques, chosen, values, steps = residual.ravel(), [], np.empty(0), []
    while True:
        rest = torques - S[:, chosen] @ values
        shares = shares_of(S, chosen, rest)
        found = dict(zip((possible[k].name for k in chosen), values.tolist()))
        steps.append(Step(found, float(np.sqrt(np.mean(rest ** 2))), shares))
        if shares.max() < LEAST_SHARE:
            return steps
        chosen.append(int(shares.argmax()))
        values = np.linalg.lstsq(S[:, chosen], torques, rcond=None)[0]


def shares_of(S, chosen, rest):
    """Return the share of the rest that each error explains beside the chosen ones, (errors,)."""
    new = S - S[:, chosen] @ np.linalg.lstsq(S[:, chosen], S, rcond=None)[0]
    size = np.sum(new ** 2, axis=0)
    useful = size > NO_EFFECT  # not those chosen, nor the encoder of a vertical axis
    return np.where(useful, (new.T @ rest) ** 2 / np.where(useful, size, 1.0), 0.0) / (rest @ rest)


def print_steps(possible, steps):
    """Print the best candidates of each step, and the errors found."""
    for k, step in enumerate(steps):
        print(f'{k} errors fitted, rest {1e3 * step.rms:.0f} mN m rms; of it would explain')
        for place in np.argsort(-step.shares)[:3]:
            print(f'    {possible[place].name:24}{step.shares[place]:7.1%}')
    by_name = {error.name: error for error in possible}
    for name, value in steps[-1].found.items():
        error = by_name[name]
        print(f'{name:24}{value / error.per_unit:8.3f} {error.unit}   true '
              f'{TRUE.get(name, 0.0) / error.per_unit:.3f} {error.unit}')


def is_true(found):
    """Return whether exactly the true errors were found, with their values."""
    return set(found) == set(TRUE) and all(
        abs(found[name] - value) <= CLOSE * abs(value) for name, value in TRUE.items())


def plot(path, possible, steps):
    """Draw the shares of all errors, one panel per step."""
    figure = Figure(figsize=(3.6 * len(steps), 4.8), layout='constrained')
    panels = figure.subplots(1, len(steps), sharey=True, squeeze=False)[0]
    names = [error.name for error in possible]
    for k, (axes, step) in enumerate(zip(panels, steps)):
        best = step.shares.max()
        axes.barh(names, step.shares, color=[
            '#c2410c' if share == best >= LEAST_SHARE else '#9aa5b1' for share in step.shares])
        axes.axvline(LEAST_SHARE, color='#7b8794', linewidth=0.8, linestyle=':')
        axes.set(xlim=(0.0, 1.0), xlabel='share of the rest explained')
        axes.set_title(f'{k} fitted, rest {1e3 * step.rms:.0f} mN m', loc='left', fontsize=10)
        axes.spines[['top', 'right']].set_visible(False)
    panels[0].invert_yaxis()
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=110)


if __name__ == '__main__':
    sys.exit(main())
