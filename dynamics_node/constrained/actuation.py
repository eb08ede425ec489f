"""Which joints have a motor?"""

import numpy as np


def actuated_dofs(model, passive=()):
    """Return which degrees of freedom have a motor, (nv,) booleans; floating joints never do.

    :param passive: names of the other joints without one.
    """
    return np.array([joint.kind != 'floating' and joint.name not in passive
                     for joint in model.joints for _ in range(joint.v.start, joint.v.stop)],
                    dtype=bool)
