"""Make the torques that may be published, within the effort and slew limits."""

from collections import Counter
from collections.abc import Sequence

from dynamics_node.safety.effort_and_slew_limits import (
    limit_effort,
    limit_slew,
    limit_slew_together,
)
from dynamics_node.safety.gate_limits import GateLimits
from dynamics_node.safety.limit_fade import fade_near_limits
from dynamics_node.safety.records import Release
from dynamics_node.safety.small_vectors import all_within
from dynamics_node.safety.state_checks import StateChecks

EFFORT, SLEW, POSITION, VELOCITY = 'effort', 'slew', 'position', 'velocity'

Limited = Sequence[tuple[str, str]]   # pairs (which limit, which joint)


class Releaser:
    """Make Releases; no other code makes one.

    :ivar last: torque released last, or the one to begin from; None while nothing is released.
    :ivar has_released: whether anything was released since `begin`.
    :ivar since: time since the last release [s].
    :ivar count: of Releases.
    :ivar limited: number of torques that a limit changed, by (which limit, which joint).
    """

    def __init__(self) -> None:
        self.count = 0
        self.limited: Counter[tuple[str, str]] = Counter()
        self.end()

    def begin(self, limits: GateLimits, start: Sequence[float]) -> None:
        """Begin with a torque that counts as released last."""
        self._limits, self._names = limits, limits.joints.names
        self._longest = limits.settings.max_state_age   # [s] in which slew limits allow a change
        self.last: tuple[float, ...] = tuple(start)

    def end(self) -> None:
        """Release nothing until `begin`."""
        self.last = None   # type: ignore[assignment]  # not used while idle
        self.has_released = False
        self.since = 0.0

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self.since += seconds

    def within_limits(self, checks: StateChecks) -> tuple[Sequence[float], Limited]:
        """Return the wanted torque within the effort limits and faded near limits; the limits met.

        :param checks: have the wanted torque, and the joint state that it belongs to.
        """
        torque: Sequence[float]
        torque, joints = limit_effort(self._limits, checks.torque)
        limited = self._counted(EFFORT, joints) if joints else []
        if checks.near_limits:
            torque, by_position, by_velocity = fade_near_limits(
                self._limits, torque, checks.gravity, checks.position, checks.v)
            limited += self._counted(POSITION, by_position)
            limited += self._counted(VELOCITY, by_velocity)
        return torque, limited

    def release(self, torque: Sequence[float], limited: Limited = (),
                together: bool = False) -> Release | None:
        """Return the Release of a torque, as far as the slew limits allow; see `make`.

        :param together: whether all joints change in proportion, see limit_slew_together.
        """
        limit = limit_slew_together if together else limit_slew
        torque, joints = limit(self._limits, torque, self.last, min(self.since, self._longest))
        if joints:
            limited = [*limited, *self._counted(SLEW, joints)]
        return self.make(torque, limited)

    def make(self, torque: Sequence[float], limited: Limited = ()) -> Release | None:
        """Return the Release of a torque; None, an internal error, if it is beyond the limits.

        The check is redundant: every torque that arrives here is within the effort limits.
        """
        if not all_within(torque, self._limits.effort):
            return None
        self.last, self.has_released, self.since = tuple(torque), True, 0.0
        self.count += 1
        # Release() takes half as long again.
        return tuple.__new__(Release, (self.last, self._names, tuple(limited)))

    def _counted(self, which: str, joints: Sequence[int]) -> list[tuple[str, str]]:
        """Count the joints that a limit changed; return the pairs (which limit, which joint)."""
        pairs = [(which, self._names[k]) for k in joints]
        self.limited.update(pairs)
        return pairs
