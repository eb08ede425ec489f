"""What was measured while the robot stood still, pose after pose?"""

from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError, UnknownName


class StaticPoses(NamedTuple):
    """Torques that hold the robot in some poses, each an average over a second or so.

    Dry friction holds as well, with anything between -f and f: it is what static measurements are
    wrong by. Come to each pose slowly from below and from above and say so in `approach`: half the
    difference of the two torques is friction, and falls out.
    """

    joint_names: tuple            # of the columns below, in any order
    q: np.ndarray                 # (N, joints) [rad or m]
    tau: np.ndarray               # (N, joints) [N m or N]
    approach: np.ndarray | None = None   # (N, joints) sign of the velocity before the stop, 0: any


def poses_of(robot, poses):
    """Return the StaticPoses with the robot's joints alone, in the robot's order.

    :raise DynamicsError: what is wrong with them.
    """
    names = tuple(poses.joint_names)
    wide = [joint.name for joint in robot.model.joints if joint.kind in ('planar', 'floating')]
    if wide:
        raise DynamicsError(f'the robot has joints of more than one axis, {wide}: lock them, or '
                            "read the URDF with base='fixed'")
    for name in robot.joint_names:
        if name not in names:
            raise UnknownName('joint in the poses', name, names)
    columns = [names.index(name) for name in robot.joint_names]
    given = {'q': poses.q, 'tau': poses.tau}
    if poses.approach is not None:
        given['approach'] = np.sign(poses.approach)
    arrays = {}
    for key, value in given.items():
        array = np.asarray(value, dtype=float)
        if array.ndim != 2 or array.shape != (len(poses.q), len(names)):
            raise DynamicsError(f'{key} of the poses has shape {array.shape}; expected '
                                f'({len(poses.q)}, {len(names)}): a row per pose')
        if not np.isfinite(array).all():
            raise DynamicsError(f'{key} of the poses holds a number that is not finite')
        arrays[key] = array[:, columns]
    return StaticPoses(robot.joint_names, arrays['q'], arrays['tau'], arrays.get('approach'))
