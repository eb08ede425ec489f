"""Determine which degrees of freedom are actuated."""

import numpy as np


def actuated_dofs(model, passive=()):
    """Return which degrees of freedom are actuated, (nv,) booleans; floating joints never are.

    :param passive: names of further joints without actuator.
    """
    return np.array([joint.kind != 'floating' and joint.name not in passive
                     for joint in model.joints for _ in range(joint.v.start, joint.v.stop)],
                    dtype=bool)
