"""Define recordings of static poses: positions and holding torques of a robot at rest."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node import checks
from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.identification.recording import check_one_axis, motor_names
from dynamics_node.robot.robot import Robot


class StaticPoses(NamedTuple):
    """Torques that hold the robot in poses at rest, each averaged over about a second.

    Dry friction adds a torque between -f and f, the main error of static measurements. Approach
    each pose slowly from below and from above and give the direction in `approach`: half the
    difference of the two torques is friction, and is removed.
    """

    joint_names: Sequence[str]    # of the columns, in any order
    q: np.ndarray                 # (N, joints) [rad or m]
    tau: np.ndarray               # (N, joints) [N m or N]
    approach: np.ndarray | None = None   # (N, joints) sign of the last velocity, 0: unknown


def select_pose_joints(robot: Robot, poses: StaticPoses) -> StaticPoses:
    """Return the poses with only the joints of the robot, in its order.

    A robot with loops needs the motors only; the positions of its other joints follow.

    :raise DynamicsError: joints are missing, or arrays have wrong shapes.
    """
    names = checks.check_names('joint_names of the poses', poses.joint_names)
    check_one_axis(robot)
    for name in motor_names(robot) if robot.loops.constraints else robot.joint_names:
        if name not in names:
            raise UnknownName('joint in the poses', name, names)
    selected = tuple(joint.name for joint in robot.model.joints
                     if joint.name in names and joint.kind not in ('planar', 'floating'))
    columns = [names.index(name) for name in selected]
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
    return StaticPoses(selected, arrays['q'], arrays['tau'], arrays.get('approach'))


def _rows(key: str, value: np.ndarray, columns: int) -> np.ndarray:
    """Return finite floats, (N, columns)."""
    try:
        array = checks.check_array(key, value, columns)
    except DynamicsError as error:
        raise DynamicsError(f'{key} of the poses: {error}') from None
    if array.ndim != 2:
        raise DynamicsError(f'{key} of the poses has shape {array.shape}; expected (N, {columns}): '
                            'a row per pose')
    return array
