"""May a joint be pushed further that way? Near a limit of position or velocity ever less.

A torque is what holds gravity plus a push. Only a push moves a joint, so only that is scaled:
    released = gravity + share * (torque - gravity),   share = 1 in the open, 0 at the limit
An arm at rest at its limit is thus held there: gravity compensation does not fade with the guard,
nor does the arm sag. A push away from the limit, or against the motion, is never scaled.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.safety.small_vectors import some


class FadedTorque(NamedTuple):
    """A torque that has passed the guards."""

    torque: np.ndarray         # (nv,)
    by_position: np.ndarray    # (nv,) bool, whose push was scaled down
    by_velocity: np.ndarray


def in_the_open(rules, position, speed):
    """Return whether every joint is far from its limits; then there is nothing to guard."""
    return not (some(position > rules.open_upper) or some(position < rules.open_lower)
                or some(speed > rules.open_speed))


def fade_near_limits(rules, torque, gravity, position, v):
    """Return the Guarded torque.

    :param torque: (nv,), and gravity, (nv,): both within the effort limits.
    """
    push = torque - gravity
    room = np.where(push > 0.0, rules.upper - position, position - rules.lower)
    position_share = room / rules.margin
    velocity_share = np.where(push * v > 0.0,
                              (rules.velocity - np.abs(v)) / rules.velocity_span, 1.0)
    share = np.maximum(np.minimum(position_share, velocity_share), 0.0)
    pushed = push != 0.0
    # A share below 1 takes more off a push than rounding adds: this stays within the limits.
    torque = np.where(share < 1.0, gravity + share * push, torque)
    return FadedTorque(torque, pushed & (position_share < 1.0), pushed & (velocity_share < 1.0))
