"""Which states does a robot pass on a trajectory of some of its joints?"""

from typing import NamedTuple

import numpy as np

from dynamics_node.control.spline import Spline, times_between
from dynamics_node.errors import DynamicsError


class SampledMotion(NamedTuple):
    """States of all joints along a trajectory."""

    times: np.ndarray   # (N,) [s]: those of the points, and more between them
    q: np.ndarray       # (N, nq)
    v: np.ndarray       # (N, nv)
    a: np.ndarray       # (N, nv)


def sampled_motion(robot, joint_names, times, positions, velocities=None, accelerations=None,
                   check_period=0.01):
    """Return the SampledMotion: smooth between the points, see control/spline.py.

    Joints that are not named stand still, in the neutral configuration.

    :param joint_names: of the columns, joints with one coordinate.
    :param check_period: between samples beside those at the points [s]; zero for none.
    :raise DynamicsError: a joint is unknown, or has more coordinates; a number is not valid.
    """
    joints = [_joint(robot, name) for name in joint_names]
    if velocities is None and accelerations is not None:
        velocities = Spline(times, positions).velocities
    spline = Spline(times, positions, velocities, accelerations)
    extra = times_between(spline.times, check_period)
    motion, at_points = spline.at(extra), (spline.positions, spline.velocities,
                                           spline.accelerations)
    all_times = np.concatenate([spline.times, extra])
    order = np.argsort(all_times, kind='stable')
    whole = []
    for where, rest, points, between in zip('qvv', (
            robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)), at_points, motion):
        states = np.tile(rest, (len(order), 1))
        states[:, [getattr(joint, where).start for joint in joints]] = np.concatenate(
            [points, between])[order]
        whole.append(states)
    return SampledMotion(all_times[order], *whole)


def _joint(robot, name):
    joint = robot.model.joint(name)
    if joint.q.stop - joint.q.start != 1:
        raise DynamicsError(f"joint '{name}' is {joint.kind}; a trajectory can only speak of "
                            'joints with one coordinate')
    return joint
