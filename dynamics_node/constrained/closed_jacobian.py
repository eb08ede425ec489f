r"""Compute the Jacobian of a frame by the independent coordinates of a closed mechanism.

With v = G u and w = J v the velocity of the frame,

    w = J G u,   dw/dt = J G du/dt + (dJ/dt G + J dG/dt) u;

see `closed_dynamics` for G.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.constrained.closed_dynamics import ClosedDynamics
from dynamics_node.spatial.stacks import times


class ClosedJacobian(NamedTuple):
    """The velocity of a frame is jacobian u, the rate of it jacobian du/dt + rate u."""

    jacobian: np.ndarray  # J G (6, k), linear rows first
    rate: np.ndarray      # d(J G)/dt (6, k)
    drift: np.ndarray     # rate u (6,): the rate of the velocity at du/dt = 0


def closed_jacobian(J: np.ndarray, J_rate: np.ndarray, closed: ClosedDynamics,
                    u: np.ndarray) -> ClosedJacobian:
    """Return the ClosedJacobian of rows J (.., m, nv) and their rate, of one state or a batch.

    :param u: (.., k) velocities of the coordinates.
    """
    G = closed.transmission
    rate = J_rate @ G + J @ closed.transmission_rate
    return ClosedJacobian(J @ G, rate, times(rate, u))
