"""What is remembered between two questions about a load? Poses, and the motion without it."""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.static_poses import StaticPoses

STILL = 0.005    # [rad or m] a joint that moves by more does not stand still
MOST_POSES = 1000


class PayloadSamples:
    """Of one robot and one meaning of its efforts; with other ones they are worth nothing.

    :ivar poses: StaticPoses with efforts as they were measured; None: none yet.
    :ivar unloaded: [(stamp, bytes)] of the tape, empty: none.
    """

    def __init__(self):
        self.forget()

    def forget(self):
        """Begin anew."""
        self._about, self.poses, self.unloaded = None, None, []

    def of(self, robot, *effort):
        """Return the notes of a robot: these, or empty ones where joints or efforts have changed.

        :param effort: parameters that say what an effort means.
        """
        about = robot.joint_names, effort
        if self._about != about:
            self.forget()
            self._about = about
        return self

    def __len__(self):
        return 0 if self.poses is None else len(self.poses.q)

    def add(self, poses):
        """Remember StaticPoses of all joints, in the robot's order."""
        self.poses = joined(self.poses, poses)
        if len(self) > MOST_POSES:
            self.forget()
            raise DynamicsError(f'more than {MOST_POSES} poses; all were forgotten')


def joined(first, second):
    """Return both StaticPoses as one; with a single one, that."""
    if first is None or second is None:
        return second if first is None else first
    if first.joint_names != second.joint_names:
        raise DynamicsError(f'some poses are of {list(first.joint_names)}, some of '
                            f'{list(second.joint_names)}: name the same joints in all, or forget '
                            'the poses and begin anew')
    if (first.approach is None) is not (second.approach is None):
        raise DynamicsError('some poses have approach, some have not: give it for all, or forget '
                            'the poses and begin anew')
    approach = None if first.approach is None else np.vstack([first.approach, second.approach])
    return StaticPoses(first.joint_names, np.vstack([first.q, second.q]),
                       np.vstack([first.tau, second.tau]), approach)


def mean_pose(raw, approach=None):
    """Return the StaticPoses of a RawRecording in which nothing moves: one pose, its mean.

    :param approach: (joints,), or None.
    """
    moved = np.nanmax(raw.q, axis=0) - np.nanmin(raw.q, axis=0)
    for name, way, tau in zip(raw.joint_names, moved, raw.tau.T):
        if not way <= STILL:
            raise DynamicsError(f"joint '{name}' moved by {way:.3g}; a pose is taken at rest, "
                                f'within {STILL:g} rad or m')
        if not np.isfinite(tau).any():
            raise DynamicsError(f"joint_states has no effort of '{name}'")
    return StaticPoses(raw.joint_names, np.nanmean(raw.q, axis=0)[None],
                       np.nanmean(raw.tau, axis=0)[None],
                       None if approach is None else approach[None])
