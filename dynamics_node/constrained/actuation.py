"""Determine which degrees of freedom are actuated."""

from collections.abc import Sequence

import numpy as np

from dynamics_node.model.model import Model


def actuated_dofs(model: Model, passive: Sequence[str] = ()) -> np.ndarray:
    """Return which degrees of freedom are actuated, (nv,) booleans; floating joints never are.

    :param passive: names of further joints without actuator.
    """
    return np.array([joint.kind != 'floating' and joint.name not in passive
                     for joint in model.joints for _ in range(joint.v.start, joint.v.stop)],
                    dtype=bool)
