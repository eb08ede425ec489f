"""Bring torques to their end: brake the joints to rest, then go to the safe torque.

The safe torque, by `safe_action`:

'gravity': the torque that holds the arm still where it is. It is the last message, so that the arm
does not drop. Without a valid joint state it is the gravity torque of the last valid or predicted
one, which then decays to zero within blind_gravity_time.
'zero': zero.
'hold': zero, but after a fault the last torque is kept for hold_time first.
"""

from __future__ import annotations

from collections.abc import Sequence

from dynamics_node.safety.ramp import TorqueRamp
from dynamics_node.safety.settings import SafetySettings

# Safe torques: the one that balances gravity at each joint state; the one that balanced it at the
# last valid joint state, which then decays to zero; zero.
GRAVITY, LAST_GRAVITY, ZERO = 'gravity', 'last gravity', 'zero'
SETTLING = 0.1   # [s] that braking continues after the joints are at rest: residual motion ends


class Stop:
    """The phases in which torques end; they depend on time and joint states alone.

    1. Braking, until the joints are at rest, or brake_time is over; the torque is that of the
       control law for braking, not computed here.
    2. The ramp to the safe torque, after `hold` seconds in which the torque is kept.
    3. After a ramp to LAST_GRAVITY: its decay to zero.

    :ivar safe: GRAVITY, LAST_GRAVITY or ZERO.
    :ivar braking: whether it is in phase 1.
    :ivar blind: whether no joint state is valid; joints are braked by predicted states.
    """

    def __init__(self, settings: SafetySettings, safe: str, last: Sequence[float],
                 braking: bool = False, hold: float = 0.0, blind: bool = False) -> None:
        """Begin.

        :param last: torque released last, nv entries.
        """
        self.safe, self.braking, self.blind = safe, braking, blind
        self._settings, self._hold = settings, hold
        self._start = last
        self._time = 0.0   # [s] in phase 1, or since its end
        self._at_rest = 0.0   # [s] that the joints have been at rest

    @classmethod
    def after_disable(cls, settings: SafetySettings, last: Sequence[float], braking: bool) -> Stop:
        """Return the Stop after a disable; for the arguments see Stop."""
        return cls(settings, GRAVITY if settings.safe_action == 'gravity' else ZERO, last, braking)

    @classmethod
    def after_fault(cls, settings: SafetySettings, last: Sequence[float], braking: bool,
                    blind: bool) -> Stop:
        """Return the Stop after a fault; for the arguments see Stop."""
        if settings.safe_action == 'gravity':
            return cls(settings, LAST_GRAVITY if blind else GRAVITY, last, braking, blind=blind)
        hold = settings.hold_time if settings.safe_action == 'hold' else 0.0
        return cls(settings, ZERO, last, braking, hold, blind)

    @property
    def needs_state(self) -> bool:
        """Whether the next torque is computed from a joint state."""
        return not self.blind and (self.braking or self.safe == GRAVITY)

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self._time += seconds
        self._at_rest += seconds

    def check_rest(self, at_rest: bool, last: Sequence[float]) -> None:
        """End the braking if the joints have been at rest for a moment, or brake_time is over."""
        if not at_rest:
            self._at_rest = 0.0
        if self.braking and (self._at_rest >= SETTLING
                             or self._time >= self._settings.brake_time):
            self.end_braking(last)

    def end_braking(self, last: Sequence[float]) -> None:
        """Begin the ramp to the safe torque at the torque released last."""
        self.braking, self._start, self._time = False, last, 0.0

    def torque(self, gravity: Sequence[float], zero: Sequence[float]) -> Sequence[float]:
        """Return the torque of phases 2 and 3, nv entries.

        :param gravity: torque of gravity at the last valid joint state.
        """
        settings = self._settings
        ramp = TorqueRamp(self._start, settings.ramp_out_time, self._hold)
        decaying = self._time - self._ramp_end
        if self.safe == LAST_GRAVITY and decaying > 0.0:
            return TorqueRamp(gravity, settings.blind_gravity_time).towards(zero, decaying)
        return ramp.towards(zero if self.safe == ZERO else gravity, self._time)

    def is_over(self, released: Sequence[float], gravity: Sequence[float],
                zero: Sequence[float]) -> bool:
        """Return whether the torque released last is the end."""
        decay = self._settings.blind_gravity_time if self.safe == LAST_GRAVITY else 0.0
        end = gravity if self.safe == GRAVITY else zero
        return self._time >= self._ramp_end + decay and tuple(released) == tuple(end)

    @property
    def _ramp_end(self) -> float:
        return self._hold + self._settings.ramp_out_time
