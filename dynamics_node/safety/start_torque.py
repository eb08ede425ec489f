"""Compute the torque at which the ramp on enable starts; refuse one that would fling the arm.

At rest the torque of a drive is between zero, if brakes or friction hold the arm, and the torque
that balances gravity, if the drive does. A measured effort far outside of that range cannot be the
torque of this arm: it has another unit, another sign or another meaning than declared.
"""

import math
from collections.abc import Sequence

from numpy.typing import ArrayLike

from dynamics_node.safety.effort_and_slew_limits import limit_effort
from dynamics_node.safety.faults import Refused
from dynamics_node.safety.gate_limits import GateLimits
from dynamics_node.safety.small_vectors import numbers

START = 'start'


def check_limits_known(limits: GateLimits | None) -> None:
    """Raise Refused if there is no driven joint, or if the effort limit of one is unknown."""
    if limits is None or not limits.joints.driven.any():
        raise Refused('no model', 'there is no robot model with a joint to drive')
    if limits.unknown_effort:
        raise Refused('limits unknown', 'the effort limit is unknown: '
                      f"{', '.join(limits.unknown_effort)}; give one, or set unknown_effort to "
                      "'assume' and assumed_effort to a limit that is safe for each of them")


def start_torque(limits: GateLimits, gravity: Sequence[float],
                 measured: ArrayLike | None) -> Sequence[float]:
    """Return the measured effort within the limits; the setting unknown_start where it is unknown.

    :param gravity: the torque that balances gravity, within the limits, nv entries.
    :param measured: see Measured.effort.
    :raise Refused: a measured effort is outside of the range above by more than start_tolerance.
    """
    unknown = gravity if limits.settings.unknown_start == 'gravity' else limits.zero
    effort = None if measured is None else numbers(measured, limits.joints.nv)
    if effort is None:
        return unknown
    start = [x if math.isfinite(x) else other for x, other in zip(effort, unknown)]
    _check_start(limits, gravity, start)
    return limit_effort(limits, start)[0]


def _check_start(limits: GateLimits, gravity: Sequence[float], start: Sequence[float]) -> None:
    tolerance = limits.settings.start_tolerance
    refused = []
    for name, x, holding, most in zip(limits.joints.names, start, gravity, limits.effort):
        least, greatest = min(holding, 0.0) - tolerance * most, max(holding, 0.0) + tolerance * most
        if most > 0.0 and not least <= x <= greatest:
            refused.append(f"joint '{name}' {x:.4g}, expected {least:.4g} to {greatest:.4g}")
    if refused:
        raise Refused(START, 'the measured effort is not a torque of this arm at rest: '
                      f'{"; ".join(refused)} (the range from zero to the torque that balances '
                      f'gravity, extended by start_tolerance, {tolerance:g}, of the effort limit). '
                      'Check the declared meaning and unit of effort in joint_states')
