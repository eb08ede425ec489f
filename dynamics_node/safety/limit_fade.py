"""Scale down torques that push a joint towards a limit, the more the nearer the joint is to it.

A torque is the gravity torque plus a push. Only the push moves a joint, so only the push is scaled:

    released = gravity + share * (torque - gravity),   share = 1 far from the limit, 0 at the limit

So an arm at rest at its limit is held there: gravity compensation does not fade, and the arm does
not sag. A push away from the limit, or against the motion, is never scaled.
"""

from collections.abc import Sequence
from typing import NamedTuple

from dynamics_node.safety.gate_limits import GateLimits


class FadedTorque(NamedTuple):
    """A torque whose pushes towards a limit are scaled down."""

    torque: list[float]       # nv entries [N m or N]
    by_position: list[int]    # entries whose push was scaled near a position limit
    by_velocity: list[int]    # likewise near a velocity limit


def fade_near_limits(limits: GateLimits, torque: Sequence[float], gravity: Sequence[float],
                     position: Sequence[float], v: Sequence[float]) -> FadedTorque:
    """Return the FadedTorque.

    :param torque: nv entries, and gravity, nv entries: both within the effort limits.
    """
    result: list[float] = []
    by_position: list[int] = []
    by_velocity: list[int] = []
    for x, holding, p, velocity, lower, upper, margin, fastest, span in zip(
            torque, gravity, position, v, limits.lower, limits.upper, limits.position_margin,
            limits.velocity, limits.velocity_margin):
        push = x - holding
        position_share = (upper - p if push > 0.0 else p - lower) / margin
        velocity_share = (fastest - abs(velocity)) / span if push * velocity > 0.0 else 1.0
        share = max(min(position_share, velocity_share), 0.0)
        if push != 0.0 and share < 1.0:
            if position_share < 1.0:
                by_position.append(len(result))
            if velocity_share < 1.0:
                by_velocity.append(len(result))
            # A share below 1 reduces a push by more than rounding adds: within the limits.
            x = holding + share * push
        result.append(x)
    return FadedTorque(result, by_position, by_velocity)
