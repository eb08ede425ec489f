"""What was measured while the robot stood still, pose after pose?"""

from typing import NamedTuple

import numpy as np

from dynamics_node import checks
from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.identification.recording import check_one_axis, motor_names


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


def select_pose_joints(robot, poses):
    """Return the StaticPoses with the robot's joints alone, in the robot's order.

    Of a robot with loops the motors must be there; the loops say where the other joints are.

    :raise DynamicsError: what is wrong with them.
    """
    names = checks.check_names('joint_names of the poses', poses.joint_names)
    check_one_axis(robot)
    for name in motor_names(robot) if robot.loops.constraints else robot.joint_names:
        if name not in names:
            raise UnknownName('joint in the poses', name, names)
    chosen = tuple(joint.name for joint in robot.model.joints
                   if joint.name in names and joint.kind not in ('planar', 'floating'))
    columns = [names.index(name) for name in chosen]
    given = {'q': poses.q, 'tau': poses.tau}
    if poses.approach is not None:
        given['approach'] = poses.approach
    arrays = {key: _rows(key, value, len(names)) for key, value in given.items()}
    for key, array in arrays.items():
        if array.shape != arrays['q'].shape:
            raise DynamicsError(f'{key} of the poses has shape {array.shape}; expected '
                                f"{arrays['q'].shape}: a row per pose")
    arrays = {key: array[:, columns] for key, array in arrays.items()}
    if 'approach' in arrays:
        arrays['approach'] = np.sign(arrays['approach'])
    return StaticPoses(chosen, arrays['q'], arrays['tau'], arrays.get('approach'))


def _rows(key, value, columns):
    """Return finite floats, (N, columns)."""
    try:
        array = checks.check_array(key, value, columns)
    except DynamicsError as error:
        raise DynamicsError(f'{key} of the poses: {error}') from None
    if array.ndim != 2:
        raise DynamicsError(f'{key} of the poses has shape {array.shape}; expected (N, {columns}): '
                            'a row per pose')
    return array
