"""The same robot with fewer numbers: inertia that a turn does not move goes to the parent.

A body that is symmetric about a revolute joint's axis and has no inertia about it can be welded to
either side of the joint: mass m, first moment along the axis, tensor k (1 - aa'). Moving the
largest such part inwards leaves the joint-space dynamics exactly as it was and makes zeros that
cost nothing (the base parameters of Gautier and Khalil 1990).
Wrenches between links, energies of single links and centres of mass are *not* kept.
"""

import numpy as np

from dynamics_node.model.joints import Revolute
from dynamics_node.spatial.inertia import Inertia


def regrouped(model):
    """Return a model with the same M, C, g, and torques, and simpler inertias."""
    inertias = list(model.inertias)
    for i in reversed(range(len(model.bodies))):
        body = model.bodies[i]
        if isinstance(body.joint, Revolute) and _along_a_frame_axis(body.joint.axis):
            part = _symmetric_part(inertias[i], body.joint.axis)
            inertias[i] = _exact(inertias[i], part, body.joint.axis)
            inertias[body.parent] = inertias[body.parent] + part.seen_from(body.placement)
    return model.with_(inertias=tuple(inertias))


def _along_a_frame_axis(axis):
    """Whether the other two components are exactly zero: a hair off, the part is not symmetric."""
    return np.count_nonzero(axis) == 1


def _symmetric_part(inertia, axis):
    k = int(np.argmax(np.abs(axis)))
    j = (k + 1) % 3
    return Inertia(inertia.mass, inertia.moment * np.abs(axis),
                   inertia.tensor[j, j] * (np.eye(3) - np.outer(axis, axis)))


def _exact(inertia, part, axis):
    """Return inertia - part; what cancels is zero, not rounding."""
    return Inertia(0.0, inertia.moment * (1.0 - np.abs(axis)), inertia.tensor - part.tensor)
