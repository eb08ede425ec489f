"""Simulate scene 1: an arm draws on a table with a set contact force, its elbow up.

The bundled 7-axis arm, moved by MuJoCo, driven by the real node in mode task_space, in lockstep. A
ball at its tool slides on the table, without friction. The vertical force of the tool is
controlled, and its motion along the table and about all axes. The remaining joint lifts the elbow,
which starts at the side.

With some joints fixed it is an arm of six, five or three axes, which draws the same star: with five
the turn of the tool about the vertical is free, with three all rotations are.
"""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from arm import TIP
from bars import Bar, rms
from star import DOWN, PUSH, StarPlan
from task_loop import TaskLoop

from dynamics_node import Robot, Target
from dynamics_node.example_robots import ARM7
from dynamics_node.safety import SafetySettings

TOOL, SHOULDER, ELBOW, WRIST = 'tool0', 'link_2', 'link_4', 'link_6'
TABLE = 0.2                                # [m] its height
UP = (0.0, 0.7, 0.0, -1.55, 0.0, 0.9, 0.0)          # the posture: elbow over the shoulder
ASIDE = (1.3, 1.1, -1.7, -1.55, 1.2, 1.2, -0.6)     # near which it begins: elbow to the side
RATE = 500.0                               # [Hz]
ROTORS = (0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1)   # [kg m^2]
MODE = {'torque.mode': 'task_space', 'torque.task_frame': TOOL, 'torque.task_law': 'motion',
        'torque.task_stiffness': [1600.0],           # [1/s^2]
        'torque.task_posture_kp.default': 25.0,      # [1/s^2]
        'torque.task_posture_kd.default': 10.0,      # [1/s]
        # the track of a streamed reference lags by its jerk x blend_time^3 / 60
        'torque.blend_time': 0.04, 'torque.task_max_speed': 1.0}
RAMP = {'safety.ramp_in_time': 0.4}   # [s]
MILLI = 1e3
# axes of the arm -> (joints that are fixed at zero, free axes of the tool, where it begins near,
# how much further away the star is [m]: an arm that is straight from the elbow on cannot reach
# nearer points)
ARMS = {7: ((), (), ASIDE, 0.0),
        6: (('joint_3',), (), UP, 0.0),
        5: (('joint_3', 'joint_7'), (5,), UP, 0.0),
        3: (('joint_3', 'joint_5', 'joint_6', 'joint_7'), (3, 4, 5), UP, 0.15)}


class Drawing(NamedTuple):
    """What happened, N samples; those while it draws are from first to last."""

    urdf: str            # of the arm
    t: np.ndarray        # (N,) since the brakes opened [s]
    q: np.ndarray        # (N, n) of n joints
    torque: np.ndarray   # (N, n) on the wire [N m]
    tip: np.ndarray      # (N, 3) where the tool was [m]
    wanted: np.ndarray   # (N, 3) and where it should be; its height only where it does not push
    force: np.ndarray    # (N, 3) of the table on the tip [N]
    elbow: np.ndarray    # (N, 3) where it was [m]
    sunk: np.ndarray     # (N,) by how much it is lower than it could be [m]
    drawing: slice

    @property
    def path_error(self):
        """Along the table while it draws, (n, 2) [m]."""
        return (self.tip - self.wanted)[self.drawing, :2]

    @property
    def force_error(self):
        """Along the normal while it draws, (n,) [N]."""
        return self.force[self.drawing, 2] - PUSH


def draw(folder, seconds=8.0, glance=lambda t: None, axes=7, rate=RATE):
    """Return the Drawing of a star that takes so many seconds.

    :param folder: for the logs of the two processes.
    :param axes: of the arm, one of ARMS.
    :param rate: of joint states and torques [Hz].
    """
    fixed, free, near, away = ARMS[axes]
    urdf, path = with_fixed_joints(ARM7.read_text(), fixed), Path(folder) / 'drawing_arm.urdf'
    path.write_text(urdf)
    robot, plan = Robot.from_urdf(urdf), StarPlan(TABLE + TIP, seconds, free, away)
    places = [int(name.removeprefix('joint_')) - 1 for name in robot.joint_names]
    start = robot.inverse_kinematics(_target(plan.begin, free), start=np.take(near, places)).q
    with TaskLoop(folder, rate=rate,
                  arm={'robot_description': str(path), **named('armature', ROTORS, places),
                       'table': TABLE},
                  node={**named('armature', ROTORS, places), **RAMP}) as loop:
        loop.place(start)
        loop.enable({**MODE, **named('torque.task_posture', UP, places)})
        loop.stream(plan)
        run, force = loop.run_pushing(plan.end, glance)
    shoulder, elbow, wrist, tip = (robot.frame_pose(run.q, frame)[:, :3, 3]
                                   for frame in (SHOULDER, ELBOW, WRIST, TOOL))
    return Drawing(urdf, run.t, run.q, run.torque, tip,
                   np.array([plan(t).position for t in run.t]), force, elbow,
                   sunk(shoulder, elbow, wrist), slice(*np.searchsorted(run.t, plan.drawing)))


def with_fixed_joints(urdf, names):
    """Return the text of a URDF with some joints fixed at zero."""
    for name in names:
        urdf, n = re.subn(rf'(<joint name="{name}" type=)"\w+"', r'\1"fixed"', urdf)
        assert n == 1, name
    return urdf


def _target(position, free):
    """Return the Target of inverse kinematics: the tool points down, as far as it is controlled."""
    if 3 in free:
        return Target(TOOL, position)
    if free:
        return Target(TOOL, position, axis=(0.0, 0.0, 1.0), direction=(0.0, 0.0, -1.0))
    return Target(TOOL, position, DOWN)


def named(parameter, values, places=range(7)):
    """Return {parameter.joint_1: value, ...} of some of seven values."""
    return {f'{parameter}.joint_{k + 1}': float(values[k]) for k in places}


def sunk(shoulder, elbow, wrist):
    """Return how much higher an elbow could be that turns about the line through its neighbours."""
    line = (wrist - shoulder) / np.linalg.norm(wrist - shoulder, axis=1)[:, None]
    along = np.sum((elbow - shoulder) * line, axis=1)[:, None] * line
    radius = np.linalg.norm(elbow - shoulder - along, axis=1)
    highest = (shoulder + along)[:, 2] + radius * np.sqrt(1.0 - line[:, 2] ** 2)
    return highest - elbow[:, 2]


def drawing_bars(run):
    """Return the Bars of a Drawing."""
    joints = Robot.from_urdf(run.urdf).model.joints
    limits = np.array([joint.max_effort for joint in joints])
    slew = np.abs(np.diff(run.torque, axis=0)) / np.diff(run.t)[:, None]
    steepest = slew / (limits / SafetySettings().slew_time)
    error = np.linalg.norm(run.path_error, axis=1)
    bars = [Bar('path error, RMS', MILLI * rms(error), 0.25, 'mm', 'along the table'),
            Bar('path error, worst', MILLI * error.max(), 0.75, 'mm'),
            Bar('normal force error, RMS', rms(run.force_error), 1.0, 'N', f'of {PUSH:g} N'),
            Bar('torque over its limit, greatest', (np.abs(run.torque) / limits).max(), 1.0, ''),
            Bar('slew over its limit, greatest', steepest.max(), 1.0 + 1e-9, '')]
    if len(joints) == 7:   # else no joint is left to lift it
        bars.insert(3, Bar('elbow below its highest, worst', MILLI * run.sunk[run.drawing].max(),
                           5.0, 'mm', f'it began {MILLI * run.sunk[0]:.0f} mm below'))
    return bars
