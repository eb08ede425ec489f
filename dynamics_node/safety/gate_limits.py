"""What exactly is enforced? Limits and settings together, as numbers ready for use."""

from dataclasses import dataclass

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.robot.arguments import check_kind
from dynamics_node.safety.limits import JointLimits
from dynamics_node.safety.settings import EXIT_TIME, LARGEST, SafetySettings

TENTH = 0.1         # of its range is the most that margin and tolerance take of a joint
NARROWEST = 1e-9    # of all margins, so that one can divide by them


@dataclass(frozen=True, eq=False)
class GateLimits:
    """The numbers that the gate enforces; vectors are (nv,), read-only."""

    limits: JointLimits
    settings: SafetySettings
    unlimited: tuple           # driven joints whose effort limit is unknown and not to be assumed
    zero: np.ndarray
    effort: np.ndarray         # 0 where nothing drives
    slew: np.ndarray           # per second
    lower: np.ndarray
    upper: np.ndarray
    margin: np.ndarray         # pushes fade this far before them
    tolerance: np.ndarray      # this far beyond them is a fault
    velocity: np.ndarray       # inf = none
    velocity_span: np.ndarray  # pushes fade this far below it
    velocity_fault: np.ndarray
    jump_speed: np.ndarray     # what a position changes by at most, per second
    open_lower: np.ndarray     # from here
    open_upper: np.ndarray     # to here, and
    open_speed: np.ndarray     # up to here nothing fades
    most: tuple                # the effort limits as plain numbers
    slews: tuple               # the slew limits
    ease: tuple                # per joint (lower, upper, speed) of the open, and its jump speed

    def clip(self, torque):
        """Return the torque within the effort limits; what is not a number stays so."""
        return np.minimum(np.maximum(torque, -self.effort), self.effort)

    def position(self, q):
        """Return the entry of q that belongs to each of v, a fresh (nv,)."""
        return q[self.limits.position]


def gate_limits_of(limits, settings=None):
    """Return the Rules that follow from Limits and Settings.

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
    span = TENTH * (upper - lower)
    known = driven & np.isfinite(limits.velocity)
    velocity = np.where(known, limits.velocity, np.inf)
    fault = np.where(known, (1.0 + settings.velocity_tolerance) * velocity, np.inf)
    fade = np.where(known, settings.velocity_margin * limits.velocity, 1.0)
    margin = np.maximum(np.minimum(settings.position_margin, span), NARROWEST)
    fade = np.maximum(fade, NARROWEST)
    vectors = {
        'zero': np.zeros(limits.nv), 'effort': effort, 'slew': slew, 'lower': lower, 'upper': upper,
        'margin': margin, 'tolerance': np.minimum(settings.position_tolerance, span),
        'velocity': velocity, 'velocity_span': fade, 'velocity_fault': fault,
        'jump_speed': np.where(known, fault, np.where(driven, settings.jump_speed, LARGEST)),
        'open_lower': lower + margin, 'open_upper': upper - margin, 'open_speed': velocity - fade}
    for vector in vectors.values():
        vector.flags.writeable = False
    unlimited = () if assumed else tuple(np.array(limits.names)[unknown].tolist())
    return GateLimits(limits, settings, unlimited, **vectors, most=tuple(effort.tolist()),
                 slews=tuple(slew.tolist()), ease=_ease(vectors))


def _ease(vectors):
    """Return what a joint far from all limits keeps to, as plain numbers."""
    return tuple(zip(np.maximum(vectors['open_lower'], -LARGEST).tolist(),
                     np.minimum(vectors['open_upper'], LARGEST).tolist(),
                     np.minimum(vectors['open_speed'], LARGEST).tolist(),
                     vectors['jump_speed'].tolist()))


def _check_slew(limits, effort, slew):
    """A slew limit must let the torque go from one effort limit to the other during an exit."""
    for name, most, rate in zip(limits.names, effort, slew):
        if 2.0 * most > rate * EXIT_TIME * (1.0 + 1e-9):
            raise DynamicsError(
                f"the slew limit of joint '{name}' is {rate:g} per second; from one effort limit "
                f'to the other, {2.0 * most:g}, it must take no more than {EXIT_TIME} s, so that '
                f'the safe torque is reached before the process ends: at least '
                f'{2.0 * most / EXIT_TIME:g} per second')
