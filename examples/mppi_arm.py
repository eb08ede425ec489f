"""Move a 7-axis arm around a wall by sampling: MPPI with Robot.rollouts.

    python examples/mppi_arm.py [--save build/mppi/mppi.png]

The plan is a velocity of each joint in each period of the horizon; torques of the inverse dynamics,
within their limits, make the arm follow it. In each control step noise is added to the plan, in as
many ways as there are samples, and all motions are rolled out at once. Each costs what its tool is
away from the goal, and inside the wall, and its speed. The next plan is the mean of the samples
with the weights exp(-cost / temperature) (Williams et al. 2017, "Information theoretic MPC"). No
derivative is used, so that the cost may have jumps, as that of the wall has.

The exit code is 0 only if the tool arrives at the goal without touching the wall.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7

PERIOD, HORIZON = 0.04, 20                        # [s], periods
START = np.array([0.9, 0.9, 0.0, -1.2, 0.0, 0.6, 0.0])    # [rad]
GOAL_POSE = START * [-1, 1, 1, 1, 1, 1, 1]        # the tool on the other side of the wall
WALL_WIDTH, WALL_ABOVE = 0.06, 0.12               # [m]: |y| inside, top above start and goal
NOISE = 0.7                                       # of the velocities [rad/s]
GAIN = 8.0                                        # of the velocity errors [1/s]
TEMPERATURE = 0.05                                # of the costs' standard deviation
ARRIVED = 0.05                                    # [m]; the noise of the samples leaves some 20 mm
DISTANCE, SPEED, WALL = 100.0, 0.05, 500.0        # weights: 1/m^2, s^2/rad^2, 1
SMOOTH = 0.8                                      # share of the noise of the period before


class Task:
    """Goal and wall of the tool, and the cost of motions."""

    def __init__(self, robot: Robot):
        self.robot, self.frame = robot, robot.frame_names[-1]
        self.start, self.goal = (self.tool(q) for q in (START, GOAL_POSE))
        self.top = self.goal[2] + WALL_ABOVE

    def tool(self, q):
        """Return the places of the tool (.., 3) [m]."""
        flat = self.robot.frame_pose(np.reshape(q, (-1, self.robot.nq)), self.frame)[:, :3, 3]
        return flat.reshape(*np.shape(q)[:-1], 3)

    def inside(self, p):
        """Return whether places are in the wall."""
        return (np.abs(p[..., 1]) < WALL_WIDTH) & (p[..., 2] < self.top)

    def cost(self, motions):
        """Return the cost of each motion, (N,)."""
        p = self.tool(motions.q[:, 1:])
        away = ((p - self.goal) ** 2).sum(axis=-1)
        speed = (motions.v[:, 1:] ** 2).sum(axis=-1)
        running = DISTANCE * away + SPEED * speed + WALL * self.inside(p)
        return running.sum(axis=1) + 10.0 * running[:, -1]


class Sampler:
    """A controller by model predictive path integrals."""

    def __init__(self, task: Task, samples: int, seed: int):
        self.task, self.robot, self.samples = task, task.robot, samples
        self.limit = np.array([joint.max_effort for joint in task.robot.model.joints])   # [N m]
        self.rng = np.random.default_rng(seed)
        self.plan = np.zeros((HORIZON, task.robot.nv))   # [rad/s]

    def policy(self, velocities):
        """Return f(t, q, v) -> torques that follow velocities (.., T, nv) within the limits."""
        def torque(t, q, v):
            wanted = GAIN * (velocities[..., round(t / PERIOD), :] - v)
            return np.clip(self.robot.inverse_dynamics(q, v, wanted), -self.limit, self.limit)
        return torque

    def sample(self, q, v):
        """Improve the plan from a state on; return the motions that were rolled out."""
        noise = self.rng.normal(size=(self.samples, HORIZON, self.robot.nv))
        for k in range(1, HORIZON):
            noise[:, k] = SMOOTH * noise[:, k - 1] + np.sqrt(1.0 - SMOOTH ** 2) * noise[:, k]
        noise[0] = 0.0   # the plan itself
        velocities = self.plan + NOISE * noise
        states = (np.tile(each, (self.samples, 1)) for each in (q, v))
        motions = self.robot.rollouts(*states, self.policy(velocities), PERIOD, HORIZON)
        cost = self.task.cost(motions)
        weights = np.exp(-(cost - cost.min()) / (TEMPERATURE * cost.std() + 1e-9))
        self.plan = np.einsum('n,nti->ti', weights / weights.sum(), velocities)
        return motions


def main(argv=None):
    """Run the example; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--save', type=Path, default=Path('build/mppi/mppi.png'),
                        help='path of the picture (%(default)s)')
    parser.add_argument('--samples', type=int, default=1000, help='per step (%(default)s)')
    parser.add_argument('--seconds', type=float, default=3.0, help='to simulate (%(default)s)')
    parser.add_argument('--seed', type=int, default=0, help='of the noise (%(default)s)')
    arguments = parser.parse_args(argv)
    robot = Robot.from_urdf(ARM7, friction=False)
    task = Task(robot)
    sampler = Sampler(task, arguments.samples, arguments.seed)
    steps = round(arguments.seconds / PERIOD)
    q, v, path, fans = START, np.zeros(robot.nv), [task.start], []
    began = time.perf_counter()
    for k in range(steps):
        motions = sampler.sample(q, v)
        if k % 15 == 0:
            fans.append(motions.q[:60])
        moved = robot.rollouts(q, v, sampler.policy(sampler.plan), PERIOD, 1, step=0.001)
        q, v = moved.q[-1], moved.v[-1]   # of the arm itself
        sampler.plan = np.vstack([sampler.plan[1:], sampler.plan[-1:]])
        path.append(task.tool(q))
    seconds = time.perf_counter() - began
    path = np.array(path)
    away, touched = np.linalg.norm(path[-1] - task.goal), int(task.inside(path).sum())
    print(f'{steps} control steps of {PERIOD} s with {arguments.samples} rollouts of '
          f'{HORIZON * PERIOD:.2g} s each')
    print(f'{steps / seconds:.1f} control steps per second, '
          f'{steps * arguments.samples / seconds:.0f} rollouts per second')
    print(f'the tool ends {1e3 * away:.0f} mm from the goal (at most {1e3 * ARRIVED:.0f}), '
          f'{touched} states inside the wall (0)')
    arguments.save.parent.mkdir(parents=True, exist_ok=True)
    plot(arguments.save, task, path, fans)
    good = away <= ARRIVED and touched == 0
    print(f'{arguments.save}\n{"arrived" if good else "NOT arrived"}')
    return 0 if good else 1


def plot(path, task, motion, fans):
    """Draw the tool's way and some of the sampled ones, seen along x."""
    figure = Figure(figsize=(8, 5), layout='constrained')
    axes = figure.subplots()
    for fan in fans:
        axes.plot(*task.tool(fan)[..., 1:].T, color='#9fb3c8', linewidth=0.4, alpha=0.5)
    axes.plot(*motion[:, 1:].T, color='#0b7285', linewidth=2.5, label='tool')
    low = axes.get_ylim()[0]
    axes.fill_between([-WALL_WIDTH, WALL_WIDTH], low, task.top, color='#c92a2a', alpha=0.3,
                      label='wall')
    axes.plot(*task.start[1:], 'o', color='black', label='start')
    axes.plot(*task.goal[1:], '*', color='#2b8a3e', markersize=16, label='goal')
    axes.set(xlabel='y [m]', ylabel='z [m]', aspect='equal',
             title='MPPI: sampled motions (grey) and what the arm does')
    axes.legend(frameon=False, loc='upper left')
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=110)


if __name__ == '__main__':
    sys.exit(main())
