"""Control a 7-axis arm by LQR around a pose: A and B from Robot.linearize, simulated in MuJoCo.

    python examples/lqr.py [--save build/lqr/lqr.png]

The arm starts up to 0.3 rad off. A linear-quadratic regulator brings it back, with the gravity
torque of the pose as feedforward: tau = g(q_0) - K x, x = (q - q_0, v). It is compared
with a PD of the same bandwidth and feedforward for each joint. The cost of both is the integral of
x' Q x + u' R u. Riccati's equation predicts that of the regulator, x' P x at the start; MuJoCo, an
independent engine, measures it.

The exit code is 0 only if every bar is met.
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent / 'sim'))

import numpy as np  # noqa: E402
from arm import SimulatedArm  # noqa: E402
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from scipy.integrate import trapezoid  # noqa: E402
from scipy.linalg import solve_continuous_are  # noqa: E402

from dynamics_node import Robot  # noqa: E402
from dynamics_node.example_robots import ARM7  # noqa: E402

POSE = np.array([0.2, 0.6, -0.3, -1.2, 0.4, 0.9, 0.0])      # [rad]
OFF = np.array([0.3, -0.25, 0.2, 0.3, -0.3, 0.25, -0.3])    # [rad] from it, at the start
# Nothing but the regulator damps this arm; its rotors are what a real one's drives would add.
ROTORS = dict(zip((f'joint_{k}' for k in range(1, 8)), (0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1)))
# Deviations of equal cost: position error, velocity, share of the torque limit.
FINE_ANGLE, FINE_SPEED, FINE_EFFORT = 0.05, 0.5, 0.1        # [rad], [rad/s], [1]

SETTLED = 1e-3       # [rad] worst joint at the end
PREDICTED = 0.1       # how far the cost may be from that of the linear model, relative


class Run(NamedTuple):
    """What a controller made of the arm, N samples of n joints."""

    t: np.ndarray        # (N,) [s]
    error: np.ndarray    # (N, n) [rad]
    speed: np.ndarray    # (N, n) [rad/s]
    effort: np.ndarray   # (N, n) [N m] beside the feedforward

    def cost(self, Q, R):
        """Return the integral of x' Q x + u' R u."""
        x = np.hstack([self.error, self.speed])
        rate = np.einsum('ti,ij,tj->t', x, Q, x) + np.einsum('ti,ij,tj->t', self.effort, R,
                                                             self.effort)
        return float(trapezoid(rate, self.t))

    def settled(self, k):
        """Return when joint k came within SETTLED to stay, inf: not yet [s]."""
        outside = np.flatnonzero(np.abs(self.error[:, k]) > SETTLED)
        last = outside[-1] if len(outside) else -1
        return self.t[last + 1] if last + 1 < len(self.t) else np.inf


def main(argv=None):
    """Run the example; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--save', type=Path, default=Path('build/lqr/lqr.png'),
                        help='path of the picture (%(default)s)')
    parser.add_argument('--seconds', type=float, default=1.2, help='to simulate (%(default)s)')
    arguments = parser.parse_args(argv)

    robot = Robot.from_urdf(ARM7, friction=False, armature=ROTORS)
    arm = SimulatedArm(ARM7, robot.joint_names, damping=False, dry_friction=False, armature=ROTORS)
    rest, gravity = np.zeros(robot.nv), robot.gravity_torque(POSE)
    A, B, _ = robot.linearize(POSE, rest, gravity)
    Q = np.diag([FINE_ANGLE ** -2] * robot.nv + [FINE_SPEED ** -2] * robot.nv)
    R = np.diag((FINE_EFFORT * arm.effort_limit) ** -2)
    P = solve_continuous_are(A, B, Q, R)
    K = np.linalg.solve(R, B.T @ P)
    poles = np.linalg.eigvals(A - B @ K)
    bandwidth = np.exp(np.mean(np.log(np.abs(poles))))
    PD = pd_gain(robot.mass_matrix(POSE), bandwidth)

    runs = {'LQR': simulate(arm, K, gravity, arguments.seconds),
            'PD': simulate(arm, PD, gravity, arguments.seconds)}
    start = np.concatenate([OFF, rest])
    print(f'the arm alone falls at {np.linalg.eigvals(A).real.max():.1f} 1/s; with LQR every '
          f'deviation decays at {-poles.real.max():.1f} 1/s or faster; bandwidth of both '
          f'{bandwidth:.1f} rad/s\n')
    print_joints(robot.joint_names, runs, gravity, arm.effort_limit)
    met = judge(runs['LQR'], start @ P @ start, *(run.cost(Q, R) for run in runs.values()))
    arguments.save.parent.mkdir(parents=True, exist_ok=True)
    plot(arguments.save, runs, robot.joint_names)
    print(f'\n{arguments.save}\n{"all bars met" if met else "NOT all bars met"}')
    return 0 if met else 1


def pd_gain(M, w):
    """Return the gain (n, 2n) of critically damped joints at w [rad/s], each for itself."""
    inertia = np.diag(np.diag(M))
    return np.hstack([w ** 2 * inertia, 2.0 * w * inertia])


def simulate(arm, K, feedforward, seconds):
    """Return the Run of tau = feedforward - K x, given anew every time step."""
    arm.set(POSE + OFF)
    samples = []
    for k in range(round(seconds / arm.timestep) + 1):
        x = np.concatenate([arm.q - POSE, arm.v])
        tau = np.clip(feedforward - K @ x, -arm.effort_limit, arm.effort_limit)
        samples.append((k * arm.timestep, *np.split(x, 2), tau - feedforward))
        arm.step(tau)
    return Run(*map(np.array, zip(*samples)))


def print_joints(names, runs, gravity, limits):
    """Print how each joint fared: when it was within SETTLED to stay, its greatest torque."""
    print(f'{"joint":10}{"start":>10}'
          + ''.join(f'{f"{name} settled":>14}{f"{name} peak torque":>20}' for name in runs))
    for k, joint in enumerate(names):
        line = f'{joint:10}{1e3 * OFF[k]:5.0f} mrad'
        for run in runs.values():
            peak = np.abs(run.effort[:, k] + gravity[k]).max()
            line += f'{run.settled(k):12.2f} s{f"{peak:.1f} N m = {peak / limits[k]:4.0%}":>20}'
        print(line)


def judge(run, predicted, cost, other):
    """Print the bars; return whether every one was met."""
    worst, off = np.abs(run.error[-1]).max(), abs(cost / predicted - 1.0)
    bars = (('LQR, worst joint at the end', f'{1e3 * worst:.2g} mrad', f'{1e3 * SETTLED:g} mrad',
             worst <= SETTLED),
            ('LQR, cost against prediction', f'{off:.1%}', f'{PREDICTED:.0%}', off <= PREDICTED))
    print(f'\ncost: {predicted:.2f} predicted, {cost:.2f} in MuJoCo; with the PD {other:.2f}')
    for what, value, bar, good in bars:
        print(f'{what:30}{value:>13}   bar {bar:8}{"met" if good else "NOT met"}')
    return all(good for *_, good in bars)


def plot(path, runs, names):
    """Draw joint errors above torques, one column per controller."""
    figure = Figure(figsize=(11, 6.4), layout='constrained')
    rows = figure.subplots(2, len(runs), sharex=True, sharey='row', squeeze=False)
    for (above, below), (name, run) in zip(rows.T, runs.items()):
        above.plot(run.t, 1e3 * run.error, linewidth=1.2)
        below.plot(run.t, run.effort, linewidth=1.2)
        above.set_title(name, loc='left', fontweight='bold')
        below.set(xlabel='time [s]', xlim=(0.0, run.t[-1]))
        for axes in (above, below):
            axes.axhline(0.0, color='#7b8794', linewidth=0.6)
            axes.spines[['top', 'right']].set_visible(False)
    rows[0, 0].set_ylabel('q - pose [mrad]')
    rows[1, 0].set_ylabel('torque without feedforward [N m]')
    figure.legend(rows[0, 0].lines[:len(names)], names, frameon=False, loc='outside right upper')
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=110)


if __name__ == '__main__':
    sys.exit(main())
