"""Combine joint limits and safety settings into the numbers that the gate enforces."""

from dataclasses import dataclass

import numpy as np

from dynamics_node.checks import check_kind
from dynamics_node.errors import DynamicsError
from dynamics_node.safety.joint_limits import JointLimits
from dynamics_node.safety.settings import EXIT_TIME, LARGEST, SafetySettings

LARGEST_SHARE = 0.1    # greatest margin and tolerance, as a share of the range of a joint
LEAST_MARGIN = 1e-9    # lower bound of every margin, since margins are divisors
REST_SHARE = 0.01      # of the velocity limit: slower joints are at rest
REST_SPEED = 0.02      # [rad/s or m/s], for joints without a velocity limit


@dataclass(frozen=True, eq=False)
class GateLimits:
    """The numbers that the gate enforces; vectors have nv entries, in the order of v.

    They are tuples of floats, not arrays: see small_vectors.py.
    """

    joints: JointLimits
    settings: SafetySettings
    unknown_effort: tuple[str, ...]       # actuated joints without an effort limit, none assumed
    places: tuple[int, ...]               # for each entry of v, its index in q
    zero: tuple[float, ...]
    effort: tuple[float, ...]             # [N m or N], 0 where no motor acts
    slew: tuple[float, ...]               # [N m/s or N/s]
    lower: tuple[float, ...]              # [rad or m]
    upper: tuple[float, ...]
    position_margin: tuple[float, ...]    # pushes fade this far before a position limit
    position_tolerance: tuple[float, ...]   # this far beyond one is a fault
    velocity: tuple[float, ...]           # [rad/s or m/s], inf = none
    velocity_margin: tuple[float, ...]    # pushes fade this far below it
    velocity_fault: tuple[float, ...]     # a fault from here on
    rest_speed: tuple[float, ...]         # up to here a joint is at rest; inf where no motor acts
    jump_speed: tuple[float, ...]         # greatest change of a position, per second
    # Per joint: its index, the least and greatest position and the greatest speed at which no push
    # fades, all below LARGEST, and its jump_speed.
    zones: tuple[tuple[int, float, float, float, float], ...]

    def position(self, q: list[float]) -> list[float]:
        """Return the entry of q that belongs to each of v."""
        # only a floating joint has more entries in q than in v
        return q if len(q) == len(self.places) else [q[k] for k in self.places]


def gate_limits_of(limits: JointLimits, settings: SafetySettings | None = None) -> GateLimits:
    """Return the GateLimits that follow from the limits of the joints and the settings.

    :raise DynamicsError: a slew limit too low to reach the safe torque before the process ends.
    """
    settings = SafetySettings() if settings is None else check_kind('settings', settings,
                                                                    SafetySettings)
    driven = check_kind('limits', limits, JointLimits).driven
    unknown = driven & np.isnan(limits.effort)
    assumed = settings.unknown_effort == 'assume'
    effort = np.where(unknown, settings.assumed_effort if assumed else 0.0, limits.effort)
    effort = np.where(driven, effort, 0.0)
    slew = np.where(np.isnan(limits.slew), effort / settings.slew_time, limits.slew)
    _check_slew(limits, effort, slew)

    lower, upper = np.where(driven, limits.lower, -np.inf), np.where(driven, limits.upper, np.inf)
    share = LARGEST_SHARE * (upper - lower)
    known = driven & np.isfinite(limits.velocity)
    velocity = np.where(known, limits.velocity, np.inf)
    fault = np.where(known, (1.0 + settings.velocity_tolerance) * velocity, np.inf)
    margin = np.maximum(np.minimum(settings.position_margin, share), LEAST_MARGIN)
    velocity_margin = np.maximum(
        np.where(known, settings.velocity_margin * limits.velocity, 1.0), LEAST_MARGIN)
    vectors = {
        'zero': np.zeros(limits.nv), 'effort': effort, 'slew': slew, 'lower': lower, 'upper': upper,
        'position_margin': margin,
        'position_tolerance': np.minimum(settings.position_tolerance, share),
        'velocity': velocity, 'velocity_margin': velocity_margin, 'velocity_fault': fault,
        'rest_speed': np.where(known, REST_SHARE * velocity,
                               np.where(driven, REST_SPEED, np.inf)),
        'jump_speed': np.where(known, fault, np.where(driven, settings.jump_speed, LARGEST))}
    return GateLimits(limits, settings,
                      () if assumed else tuple(np.array(limits.names)[unknown].tolist()),
                      tuple(limits.position.tolist()),
                      **{name: tuple(vector.tolist()) for name, vector in vectors.items()},
                      zones=_zones(lower + margin, upper - margin, velocity - velocity_margin,
                                   vectors['jump_speed']))


def _zones(lower: np.ndarray, upper: np.ndarray, speed: np.ndarray,
           jump_speed: np.ndarray) -> tuple[tuple[int, float, float, float, float], ...]:
    return tuple(zip(range(len(lower)), np.maximum(lower, -LARGEST).tolist(),
                     np.minimum(upper, LARGEST).tolist(), np.minimum(speed, LARGEST).tolist(),
                     jump_speed.tolist()))


def _check_slew(limits: JointLimits, effort: np.ndarray, slew: np.ndarray) -> None:
    """Refuse a slew limit too low to go from one effort limit to the other within EXIT_TIME."""
    for name, most, rate in zip(limits.names, effort, slew):
        if 2.0 * most > rate * EXIT_TIME * (1.0 + 1e-9):
            raise DynamicsError(
                f"the slew limit of joint '{name}' is {rate:g} per second; from one effort limit "
                f'to the other, {2.0 * most:g}, it must take no more than {EXIT_TIME} s, so that '
                f'the safe torque is reached before the process ends: at least '
                f'{2.0 * most / EXIT_TIME:g} per second')
