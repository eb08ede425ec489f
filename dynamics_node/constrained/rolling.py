r"""Compute where a wheel or a ball touches the plane on which it rolls without slipping.

The point of the body at the contact has no velocity against the plane,

    u' + w x c = 0,

with u' the velocity of the centre, w the relative angular velocity and c the arm from the centre to
the contact, all in the axes of the plane. Along the normal n this is the rate of the distance from
the plane; the other two rows are not the rate of any function of q (non-holonomic).

A ball of radius r has c = -r n. A wheel, a disc with the unit vector s along its axle, touches with
its lowest point, c = -r p / |p| with p = n - (n's) s; upright, c = -r n too.
"""

import numpy as np

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.spatial.select import Number
from dynamics_node.spatial.so3 import cross


def contact_arm(constraint: Constraint, R: np.ndarray) -> np.ndarray:
    """Return c, from the centre to the contact in the axes of frame 1's closure, (3,) [m].

    :param R: rotation of frame 2's closure in frame 1's. It is not finite for a wheel that lies
        flat on the plane.
    """
    n = constraint.direction
    if constraint.kind == 'rolling_ball':
        return -constraint.radius * n
    p, length = _lowest(n, R @ constraint.axle_direction)
    return p * (-constraint.radius / length)


def contact_arm_rate(constraint: Constraint, R: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return dc/dt at the angular velocity w of frame 2 against frame 1, (3,) [m/s].

    dc/dt = -r (p' - p (p'p') / |p|^2) / |p|, where p' = -(n's') s - (n's) s' and s' = w x s.
    """
    if constraint.kind == 'rolling_ball':
        return np.zeros(3)
    n, axle = constraint.direction, R @ constraint.axle_direction
    axle_rate = cross(w, axle)
    p, length = _lowest(n, axle)
    p_rate = -(n @ axle_rate) * axle - (n @ axle) * axle_rate
    return (p_rate - p * ((p @ p_rate) / (length * length))) * (-constraint.radius / length)


def height(constraint: Constraint, R: np.ndarray) -> Number:
    """Return the distance of the centre from the plane at contact, -n'c [m]."""
    return -(constraint.direction @ contact_arm(constraint, R))


def _lowest(n: np.ndarray, axle: np.ndarray) -> tuple[np.ndarray, Number]:
    """Return p, the part of the normal across the axle, and its length."""
    p = n - (n @ axle) * axle
    return p, np.sqrt(p @ p)
