"""Find the joints whose measured state a torque depends on."""

from collections.abc import Sequence

import numpy as np

from dynamics_node.robot.robot import Robot


def needed_joints(robot: Robot, driven: Sequence[str]) -> np.ndarray:
    """Return the indices in model.joints of the joints whose measurement must be recent.

    Those that are driven, and those that carry a driven one. Other joints, such as the fingers of a
    gripper, only change the inertia that is carried: their last measurement is good enough. In a
    robot with loops or a floating base every joint counts.

    :param driven: names of the driven joints.
    """
    model = robot.model
    if model.loops[0] or robot.nq != robot.nv:
        return np.arange(len(model.joints))
    moved = {model.bodies[k].v.start for i, body in enumerate(model.bodies)
             if body.joint_name in driven for k in (i, *model.ancestors(i))}
    return np.array([k for k, joint in enumerate(model.joints) if joint.v.start in moved],
                    dtype=int)
