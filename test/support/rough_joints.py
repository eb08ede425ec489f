"""Give a robot friction of every kind."""

import numpy as np


def rough(robot):
    """Return the robot with every kind of friction, other values at each joint."""
    def each(*values):
        return dict(zip(robot.joint_names, np.resize(values, len(robot.joint_names)).tolist()))
    return robot.with_friction(each(0.8, 0.5), each(2.0, 1.5, 1.0), each(0.7, 0.0, 0.4),
                               each(0.1, 0.3), each(0.3, -0.2), each(-0.1, 0.4, 0.0),
                               each(0.02, 0.01, 0.05))
