"""Limit a torque: to the effort limits, and to what the slew limits allow since the last one.

All functions return the torque, nv entries [N m or N], and the entries that the limit changed.
"""

from collections.abc import Sequence

from dynamics_node.safety.gate_limits import GateLimits


def limit_effort(limits: GateLimits, torque: Sequence[float]) -> tuple[list[float], list[int]]:
    """Return the torque within the effort limits, zero where no motor acts; nan remains nan."""
    result: list[float] = []
    changed: list[int] = []
    for x, most in zip(torque, limits.effort):
        if not -most <= x <= most:
            if most == 0.0:
                x = 0.0
            else:
                changed.append(len(result))
                x = most if x > most else -most if x < -most else x
        result.append(x)
    return result, changed


def limit_slew(limits: GateLimits, torque: Sequence[float], last: Sequence[float],
               time: float) -> tuple[list[float], list[int]]:
    """Return the torque, no further from the last one than the slew limits allow in that time."""
    result: list[float] = []
    changed: list[int] = []
    for x, before, slew in zip(torque, last, limits.slew):
        reach = slew * time
        if x > before + reach:
            changed.append(len(result))
            x = before + reach
        elif x < before - reach:
            changed.append(len(result))
            x = before - reach
        result.append(x)
    return result, changed


def limit_slew_together(limits: GateLimits, torque: Sequence[float], last: Sequence[float],
                        time: float) -> tuple[list[float], list[int]]:
    """Return the torque on the line from the last one that the slew limits allow in that time.

    The change of every joint is scaled by the same share, so that the accelerations lie between
    those of both torques. If each joint were limited by itself they might not: the delayed torque
    of a heavy joint would throw a light one.
    """
    share, joint = 1.0, -1
    for k, (x, before, slew) in enumerate(zip(torque, last, limits.slew)):
        if abs(x - before) * share > slew * time:
            share, joint = slew * time / abs(x - before), k
    if joint < 0:
        return list(torque), []
    scaled = [before + share * (x - before) for x, before in zip(torque, last)]
    return limit_slew(limits, scaled, last, time)[0], [joint]   # rounding
