"""Compute the length of a line between two links, its rate, and the wrenches of its tension."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.dual import Dual
from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.tree_recursions import (
    ForwardRecursion,
    forward_recursion,
    joint_forces,
)
from dynamics_node.errors import DynamicsError
from dynamics_node.model.force_elements import LineElement
from dynamics_node.model.model import Model, frame_of
from dynamics_node.spatial.se3 import Pose
from dynamics_node.spatial.select import Number
from dynamics_node.spatial.so3 import cross


class LineMotion(NamedTuple):
    """Length and rate of a line, and where its tension acts."""

    length: Number    # [m]
    rate: Number      # [m/s]
    bodies: tuple     # indices of the bodies at both ends, or WORLD
    wrenches: tuple   # of a tension of 1 N on each, (moment, force) at its origin in its axes


def line_motion(model: Model, poses: list[Pose], V: list[np.ndarray],
                line: LineElement) -> LineMotion:
    """Return the LineMotion; it is not finite where both ends meet.

    :param poses: poses of the bodies in the world, last entry: the world.
    :param V: twists of the bodies, angular first, in their axes, last entry: the world.
    """
    ends = frame_of(model, line.to), model.frame(line.frame)
    arms = [end.pose.R @ np.array(point) + end.pose.p
            for end, point in zip(ends, (line.to_point, line.point))]
    at = [poses[end.body] for end in ends]
    twists = [V[end.body] for end in ends]
    one, two = (pose.R @ arm + pose.p for pose, arm in zip(at, arms))
    slow, fast = (pose.R @ (twist[3:] + cross(twist[:3], arm))
                  for pose, twist, arm in zip(at, twists, arms))
    length = np.sqrt((two - one) @ (two - one))
    direction = (two - one) / length
    pulls = [pose.R.T @ (sign * direction) for sign, pose in zip((1.0, -1.0), at)]
    return LineMotion(length, direction @ (fast - slow), tuple(end.body for end in ends),
                      tuple(np.concatenate([cross(arm, pull), pull])
                            for arm, pull in zip(arms, pulls)))


def directed(line: LineElement, motion: LineMotion) -> LineMotion:
    """Return the LineMotion unchanged; raise if its length is zero, so that it has no direction.

    The length of a symbolic state is not known: its kernel returns numbers that are not finite.
    """
    length = motion.length.value if isinstance(motion.length, Dual) else motion.length
    if isinstance(length, float) and length == 0.0:
        raise DynamicsError(
            f"{type(line).__name__.lower()} '{line.name}': both ends meet at this q; a line of "
            "length zero has no direction. Expected another q, or another point or to_point")
    return motion


class ActuatorMotion(NamedTuple):
    """Motion of k linear actuators, and the joint torques of their forces."""

    length: np.ndarray       # (k,) [m]
    rate: np.ndarray         # moment_arms v (k,) [m/s]
    moment_arms: np.ndarray  # d length/dq (k, nv) [m/rad or 1]: tau = moment_arms' force


def actuator_motion(model: Model, q: np.ndarray, v: np.ndarray, actuators: tuple
                    ) -> ActuatorMotion:
    """Return the ActuatorMotion.

    Between two links the Jacobians of both ends are subtracted (Hutter 2017, eq. 3.52); here both
    ends pull, and the backward recursion adds their wrenches up. Moment arms of joints that carry
    both links are zero within rounding.
    """
    tree = forward_recursion(model, q, v)
    poses = body_poses(model, tree.T)
    lines = [directed(line, line_motion(model, poses, tree.V, line)) for line in actuators]
    arms = [-tension_torque(model, tree, [(line, 1.0)]) for line in lines]
    return ActuatorMotion(np.array([line.length for line in lines]),
                          np.array([line.rate for line in lines]),
                          np.array(arms).reshape(len(lines), model.nv))


def tension_wrenches(model: Model, pulling: list[tuple[LineMotion, Number]]) -> list[np.ndarray]:
    """Return the wrench of the tensions (line, tension) on each body, (6,) angular first."""
    F = [np.zeros(6) for _ in range(len(model.bodies) + 1)]
    for line, tension in pulling:
        for body, wrench in zip(line.bodies, line.wrenches):
            F[body] = F[body] + tension * wrench
    return F[:-1]


def tension_torque(model: Model, tree: ForwardRecursion,
                   pulling: list[tuple[LineMotion, Number]]) -> np.ndarray:
    """Return the joint torques that the tensions exert, (nv,)."""
    return joint_forces(model, tree.T, tree.S, tension_wrenches(model, pulling))
