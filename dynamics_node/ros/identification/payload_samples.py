"""Store the samples of ~/identify_payload between requests: poses, and motion without payload."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.static_poses import StaticPoses
from dynamics_node.parameter import PerJoint
from dynamics_node.robot.robot import Robot

AT_REST = 0.005   # [rad or m] greatest motion of a joint at rest
MOST_POSES = 1000


class PayloadSamples:
    """Samples of one robot and one meaning of its efforts; invalid for any other.

    :ivar poses: StaticPoses with efforts as they were measured; None: none yet.
    :ivar unloaded: [(stamp, bytes)] of joint states without the payload; empty: none.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Delete all samples."""
        self._valid_for: tuple | None = None
        self.poses: StaticPoses | None = None
        self.unloaded: list[tuple[int, bytes]] = []

    def of(self, robot: Robot, *effort: str | PerJoint) -> PayloadSamples:
        """Return the samples of a robot: these, emptied if joints or efforts have changed.

        :param effort: parameters that define the meaning of an effort.
        """
        valid_for = robot.joint_names, effort
        if self._valid_for != valid_for:
            self.forget()
            self._valid_for = valid_for
        return self

    def __len__(self) -> int:
        return 0 if self.poses is None else len(self.poses.q)

    def add(self, poses: StaticPoses) -> None:
        """Add StaticPoses of all joints, in the order of the robot."""
        self.poses = joined(self.poses, poses)
        if len(self) > MOST_POSES:
            self.forget()
            raise DynamicsError(f'more than {MOST_POSES} poses; all were deleted')


def joined(first: StaticPoses | None, second: StaticPoses | None) -> StaticPoses | None:
    """Return both StaticPoses as one; one of them where the other is None."""
    if first is None or second is None:
        return second if first is None else first
    if first.joint_names != second.joint_names:
        raise DynamicsError(f'some poses are of {list(first.joint_names)}, some of '
                            f'{list(second.joint_names)}: name the same joints in all, or forget '
                            'the poses and start again')
    if (first.approach is None) is not (second.approach is None):
        raise DynamicsError('some poses have approach, some have not: give it for all, or forget '
                            'the poses and start again')
    approach = (None if first.approach is None or second.approach is None else
                np.vstack([first.approach, second.approach]))
    return StaticPoses(first.joint_names, np.vstack([first.q, second.q]),
                       np.vstack([first.tau, second.tau]), approach)


def mean_pose(raw: Any, approach: np.ndarray | None = None) -> StaticPoses:
    """Return the mean of a RawRecording at rest, as StaticPoses with one pose.

    :param approach: (joints,), or None.
    """
    moved = np.nanmax(raw.q, axis=0) - np.nanmin(raw.q, axis=0)
    for name, distance, tau in zip(raw.joint_names, moved, raw.tau.T):
        if not distance <= AT_REST:
            raise DynamicsError(f"joint '{name}' moved by {distance:.3g}; expected a robot at "
                                f'rest, within {AT_REST:g} rad or m')
        if not np.isfinite(tau).any():
            raise DynamicsError(f"joint_states has no effort of '{name}'")
    return StaticPoses(raw.joint_names, np.nanmean(raw.q, axis=0)[None],
                       np.nanmean(raw.tau, axis=0)[None],
                       None if approach is None else approach[None])
