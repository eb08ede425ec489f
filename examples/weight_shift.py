"""Simulate scene 2: a quadruped stands on four feet and shifts its weight, by the whole-body QP.

Solo12 of example-robot-data on MuJoCo's ground, with friction. Its centre of mass follows a figure
of eight, up and down, while the trunk sways; then it leans back and takes the load off one foot.
"""

from importlib import metadata
from typing import NamedTuple

import numpy as np
from bars import Bar, rms
from quadruped import SimulatedQuadruped
from scipy.spatial.transform import Rotation

from dynamics_node import Bound, Constraint, Robot, Task

LEGS = ('FL', 'FR', 'HL', 'HR')
FEET = tuple(f'{leg}_FOOT' for leg in LEGS)
FREED = 0                                  # the foot that is freed: front left
GROUND, BELIEVED = 0.7, 0.6                # friction of the ground, and what the robot counts on
TORQUE = 2.7                               # [N m] what Solo's motors give
PERIOD = 2e-3                              # [s] of the controller
STIFFNESS = 400.0                          # [1/s^2] of the tasks
HELD = tuple(Constraint(foot, 'point_contact', foot, friction=BELIEVED) for foot in FEET)
BOUNDS = (Bound('torque', limit=TORQUE), Bound('friction'))
EIGHT = np.array([0.06, 0.04, 0.03])       # [m] x, y and z
SWAY = np.array([0.15, 0.12, 0.20])        # [rad] roll, pitch and yaw
LEAN = np.array([-0.05, -0.04, 0.0])       # [m] away from the foot that is freed
EIGHT_TIME, LEAN_TIME, FREE_TIME = 6.0, 1.0, 1.0   # [s]
EXACT = 1e-6                               # [N] what a QP may miss a friction cone by
MILLI = 1e3


class Stand(NamedTuple):
    """What happened, N samples."""

    t: np.ndarray          # (N,) [s]
    q: np.ndarray          # (N, nq)
    com: np.ndarray        # (N, 3) of the centre of mass [m]
    wanted: np.ndarray     # (N, 3)
    turned: np.ndarray     # (N, 3) rotation vector from the wanted orientation of the trunk [rad]
    torque: np.ndarray     # (N, 12) [N m]
    command: np.ndarray    # (N, 4, 3) forces on the feet by the QP [N]
    force: np.ndarray      # (N, 4, 3) the same as MuJoCo has it
    feet: np.ndarray       # (N, 4, 3) where they are [m]
    freed: slice           # the samples in which one foot shall carry nothing


class WantedPose(NamedTuple):
    """The wanted pose of the trunk at a time; its rates are by differences."""

    com: np.ndarray        # (3,) away from where it stood [m]
    turn: np.ndarray       # (3,) roll, pitch, yaw [rad]


def wanted_pose(t, seconds):
    """Return the WantedPose: the figure eight within that many seconds, then leaning."""
    s = smooth(t / seconds)
    a = 2.0 * np.pi * s
    lean = smooth((t - seconds) / LEAN_TIME)
    eight = EIGHT * [np.sin(a), np.sin(2.0 * a), 0.5 * (np.cos(2.0 * a) - 1.0)]
    return WantedPose(eight + lean * LEAN, SWAY * [np.sin(2.0 * a), -np.sin(a), np.sin(3.0 * a)])


def smooth(s):
    """Return the way from 0 to 1, at rest at both ends and without a jump of acceleration."""
    s = min(max(s, 0.0), 1.0)
    return s ** 3 * (10.0 - 15.0 * s + 6.0 * s * s)


def solo12():
    """Return the path of the URDF of Solo12."""
    data = metadata.distribution('example-robot-data')
    return next(data.locate_file(file) for file in data.files
                if str(file).endswith('solo_description/robots/solo12.urdf'))


def shift_weight(seconds=EIGHT_TIME, glance=lambda t: None, compiled=True):
    """Return the Stand of an eight that takes so many seconds, and of the freed foot after it."""
    robot = Robot.from_urdf(solo12(), base='floating', friction=False, compile=compiled)
    simulated = SimulatedQuadruped(solo12(), FEET, GROUND)
    simulated.set(standing(robot))
    home, rows = robot.center_of_mass(simulated.q), []
    end, load = seconds + LEAN_TIME + 2.0 * FREE_TIME, None
    for k in range(round(end / PERIOD)):
        t = k * PERIOD
        q, v = simulated.q, simulated.v
        unload = smooth((t - seconds - LEAN_TIME) / FREE_TIME)
        solution = robot.whole_body(q, v, tasks(t, seconds, home, unload, load), HELD, BOUNDS)
        if solution.status != 'solved':
            raise RuntimeError(f'at {t:.3f} s: {solution.status}, {", ".join(solution.conflict)}')
        if not unload:
            load = solution.forces[FEET[FREED]]
        simulated.step(solution.torque, round(PERIOD / simulated.timestep))
        now = wanted_pose(t, seconds)
        turned = (Rotation.from_euler('xyz', now.turn).inv() * Rotation.from_quat(q[3:7]))
        rows.append((t, q, robot.center_of_mass(q), home + now.com, turned.as_rotvec(),
                     solution.torque[6:], np.array(list(solution.forces.values())),
                     simulated.foot_forces(), simulated.foot_positions()))
        glance(t)
    columns = [np.array(column) for column in zip(*rows)]
    return Stand(*columns, slice(round((end - 0.7 * FREE_TIME) / PERIOD), len(rows)))


def standing(robot):
    """Return a configuration with bent knees, (nq,), the feet on the ground."""
    q = robot.neutral()
    q[7:] = np.tile([0.0, 0.8, -1.6], 4) * np.repeat([1.0, 1.0, -1.0, -1.0], 3)
    q[2] = -robot.frame_pose(q, FEET[0])[2, 3]
    return q


def tasks(t, seconds, home, unload, load):
    """Return the Tasks of a time; unload goes from 0 to 1 as the foot is freed of its load [N]."""
    h = PERIOD
    before, now, after = (wanted_pose(t + d, seconds) for d in (-h, 0.0, h))
    turn = [Rotation.from_euler('xyz', each.turn) for each in (before, now, after)]
    # rates in world axes, by central differences of the smooth motion
    steps = [(one * other.inv()).as_rotvec() for one, other in zip(turn[1:], turn)]
    still = np.zeros(3)
    found = [Task('com', 'center_of_mass', position=home + now.com, stiffness=STIFFNESS,
                  velocity=(after.com - before.com) / (2 * h),
                  acceleration=(after.com - 2 * now.com + before.com) / h ** 2),
             Task('trunk', 'frame', frame='base_link', axes=('rx', 'ry', 'rz'),
                  position=(*still, *turn[1].as_quat()), stiffness=STIFFNESS,
                  velocity=(*still, *(steps[0] + steps[1]) / (2 * h)),
                  acceleration=(*still, *(steps[1] - steps[0]) / h ** 2)),
             Task('even', 'force', weight=1e-4), Task('effort', 'torque', weight=1e-4),
             # determines what the other tasks leave open, so that the problem is a single QP
             Task('calm', 'posture', weight=1e-6, stiffness=0.0)]
    if unload:
        found.append(Task('free', 'force', contact=FEET[FREED], value=(1.0 - unload) * load))
    return found


def stand_bars(run):
    """Return the Bars of a Stand."""
    settled = slice(round(0.5 / PERIOD), None)   # at first the contacts of MuJoCo carry no weight
    tangential = np.linalg.norm(run.command[..., :2], axis=2)
    outside = np.maximum(tangential - BELIEVED * run.command[..., 2], -run.command[..., 2])
    slip = np.linalg.norm((run.feet - run.feet[settled][0])[settled, :, :2], axis=2)
    off = run.com - run.wanted
    return [Bar('centre of mass, RMS', MILLI * rms(off[settled]), 0.1, 'mm'),
            Bar('centre of mass, worst', MILLI * np.linalg.norm(off[settled], axis=1).max(), 0.3,
                'mm'),
            Bar('trunk orientation, RMS', MILLI * rms(run.turned[settled]), 1.0, 'mrad'),
            Bar('outside of the friction cones, worst', outside.max(), EXACT, 'N',
                f'commanded, coefficient {BELIEVED:g}'),
            Bar('slip of a foot, worst', MILLI * slip.max(), 1.0, 'mm'),
            Bar('torque over its limit, greatest', np.abs(run.torque).max() / TORQUE, 1.0 + EXACT,
                ''),
            Bar('force commanded and measured, RMS', rms((run.command - run.force)[settled].sum(1)),
                0.1, 'N', f'of {run.force[-1].sum(0)[2]:.1f} N, the weight'),
            Bar('force on the freed foot, greatest',
                np.linalg.norm(run.force[run.freed, FREED], axis=1).max(), 0.05, 'N', 'measured')]
