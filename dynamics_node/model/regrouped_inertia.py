"""Regroup inertias to base parameters (Gautier and Khalil 1990), to save operations.

A body that is symmetric about a revolute joint's axis and has no inertia about it can be welded to
either side of the joint: mass m, first moment along the axis, tensor k (1 - aa'). Moving the
largest such part to the parent leaves the joint-space dynamics exactly unchanged and creates zeros.
Wrenches between links, energies of single links and centres of mass *change*.
"""

import numpy as np

from dynamics_node.model.joints import Revolute
from dynamics_node.model.model import Model
from dynamics_node.spatial.inertia import Inertia


def regrouped(model: Model) -> Model:
    """Return a model with the same M, C, g, and torques, and simpler inertias."""
    inertias = list(model.inertias)
    for i in reversed(range(len(model.bodies))):
        body = model.bodies[i]
        if isinstance(body.joint, Revolute) and _along_a_frame_axis(body.joint.axis):
            part = _symmetric_part(inertias[i], body.joint.axis)
            inertias[i] = _exact(inertias[i], part, body.joint.axis)
            inertias[body.parent] = inertias[body.parent] + part.seen_from(body.placement)
    return model.with_(inertias=tuple(inertias))


def _along_a_frame_axis(axis: np.ndarray) -> bool:
    """Return whether the other two components are exactly zero; else the part is not symmetric."""
    return np.count_nonzero(axis) == 1


def _symmetric_part(inertia: Inertia, axis: np.ndarray) -> Inertia:
    k = int(np.argmax(np.abs(axis)))
    j = (k + 1) % 3
    return Inertia(inertia.mass, inertia.moment * np.abs(axis),
                   inertia.tensor[j, j] * (np.eye(3) - np.outer(axis, axis)))


def _exact(inertia: Inertia, part: Inertia, axis: np.ndarray) -> Inertia:
    """Return inertia - part, with exact zeros where they cancel."""
    return Inertia(0.0, inertia.moment * (1.0 - np.abs(axis)), inertia.tensor - part.tensor)
