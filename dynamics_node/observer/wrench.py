"""Estimate the wrench at a frame from external torques."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.checks import finite
from dynamics_node.robot import arguments
from dynamics_node.robot.robot import Robot

LENGTH = 0.1       # [m] a moment of 0.1 N m counts as much as a force of 1 N
LEAST_GAIN = 0.02  # [m] a wrench of 1 N with smaller joint torques than this is not observed


class WrenchEstimate(NamedTuple):
    """The wrench on the robot at a frame's origin, (force, moment), linear first [N, N m]."""

    wrench: np.ndarray     # (6,) zero along unseen directions
    unseen: np.ndarray     # (k, 6) directions of wrenches without joint torques, unit length
    left_over: np.ndarray  # (nv,) r - J' F: not explained by a wrench at this frame [N m or N]


def wrench_at(robot: Robot, q: ArrayLike, torque: ArrayLike, frame: str,
              local: bool = False) -> WrenchEstimate:
    """Return the WrenchEstimate that explains external torques best: min |r - J' F|.

    Near a singular configuration, and always with fewer than six joints behind the frame, some
    wrenches are borne by the bearings alone. They are unknown, not zero: `unseen` has their
    directions, those with a gain below LEAST_GAIN. LENGTH scales moments to forces.

    :param q: (nq,), torque: r, (nv,).
    :param frame: frame of the only contact.
    :param local: in the frame's axes instead of the world's.
    """
    torque = finite('torque', torque, (arguments.check_robot(robot).nv,))
    q = checks.check_single('q', q, robot.nq)
    lengths = np.array([1.0] * 3 + [LENGTH] * 3)
    effect = robot.jacobian(q, frame, local=local).T * lengths     # (nv, 6) of (f, moment / LENGTH)
    U, gains, directions = np.linalg.svd(effect)
    seen = int((gains > LEAST_GAIN).sum())
    wrench = lengths * (directions[:seen].T @ ((U[:, :seen].T @ torque) / gains[:seen]))
    unseen = directions[seen:] * lengths
    unseen = unseen / np.linalg.norm(unseen, axis=1, keepdims=True)
    return WrenchEstimate(wrench, unseen, torque - (effect / lengths) @ wrench)
