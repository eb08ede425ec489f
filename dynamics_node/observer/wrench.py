"""Which wrench at a frame would explain the external torques?"""

from typing import NamedTuple

import numpy as np

from dynamics_node import checks
from dynamics_node.checks import finite
from dynamics_node.robot import arguments

HAND = 0.1      # [m] a moment of 0.1 N m counts as much as a force of 1 N
LEAST = 0.02    # [m] a wrench of 1 N that moves the joints by less torque than this is not seen


class WrenchEstimate(NamedTuple):
    """The wrench on the robot at a frame's origin, (force, moment), linear first [N, N m]."""

    wrench: np.ndarray     # (6,) nothing along what is unseen
    unseen: np.ndarray     # (k, 6) directions of wrenches that the joints do not feel, unit length
    left_over: np.ndarray  # (nv,) r - J' F: what no wrench at this frame explains [N m or N]


def wrench_at(robot, q, torque, frame, local=False):
    """Return the WrenchEstimate that explains external torques best: min |r - J' F|.

    Near a singular configuration, and always with fewer than six joints behind the frame, some
    wrenches go into the bearings and move no joint. They are unknown, not zero: they are reported.
    Lengths are told from angles by HAND; a direction is unseen if its gain is below LEAST.

    :param q: (nq,), torque: r, (nv,).
    :param frame: where the one contact is believed to be.
    :param local: in the frame's axes instead of the world's.
    """
    torque = finite('torque', torque, (arguments.check_robot(robot).nv,))
    q = checks.check_single('q', q, robot.nq)
    lengths = np.array([1.0] * 3 + [HAND] * 3)
    felt = robot.jacobian(q, frame, local=local).T * lengths     # (nv, 6) of (f, moment / HAND)
    U, gains, directions = np.linalg.svd(felt)
    seen = int((gains > LEAST).sum())
    wrench = lengths * (directions[:seen].T @ ((U[:, :seen].T @ torque) / gains[:seen]))
    unseen = directions[seen:] * lengths
    unseen = unseen / np.linalg.norm(unseen, axis=1, keepdims=True)
    return WrenchEstimate(wrench, unseen, torque - (felt / lengths) @ wrench)
