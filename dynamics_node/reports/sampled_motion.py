"""Sample the states of a robot along a trajectory of some of its joints."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.control.spline import Spline, times_between
from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import JointInfo
from dynamics_node.robot.robot import Robot


class SampledMotion(NamedTuple):
    """States of all joints along a trajectory."""

    times: np.ndarray   # (N,) [s]: at the points and between them
    q: np.ndarray       # (N, nq)
    v: np.ndarray       # (N, nv)
    a: np.ndarray       # (N, nv)


def sampled_motion(robot: Robot, joint_names: Sequence[str], times: ArrayLike,
                   positions: ArrayLike, velocities: ArrayLike | None = None,
                   accelerations: ArrayLike | None = None,
                   check_period: float = 0.01) -> SampledMotion:
    """Return the SampledMotion of a spline through the points, see control/spline.py.

    Other joints are at rest in the neutral configuration.

    :param joint_names: names of the columns, joints with one coordinate.
    :param check_period: between additional samples [s]; zero for none.
    :raise DynamicsError: a joint is unknown or has more coordinates, or a number is invalid.
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


def _joint(robot: Robot, name: str) -> JointInfo:
    joint = robot.model.joint(name)
    if joint.q.stop - joint.q.start != 1:
        raise DynamicsError(f"joint '{name}' is {joint.kind}; a trajectory can only move "
                            'joints with one coordinate')
    return joint
