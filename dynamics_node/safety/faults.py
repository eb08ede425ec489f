"""Name the kinds of fault, and those after which the joint state is still valid."""

from typing import NamedTuple

from dynamics_node.errors import DynamicsError

CLOCK = 'clock'
STATE_MALFORMED = 'state malformed'
STATE_NOT_FINITE = 'state not finite'
STATE_STALE = 'state stale'
STATE_AHEAD = 'state from the future'
STATE_BACK_IN_TIME = 'state back in time'
STATE_JUMP = 'state jump'
STATE_DISPUTED = 'state disputed'
GRAVITY_NOT_FINITE = 'gravity not finite'
POSITION = 'position beyond limit'
VELOCITY = 'velocity beyond limit'
OTHER_PUBLISHER = 'other publisher'
REFERENCE_STALE = 'reference stale'
TORQUE_MALFORMED = 'torque malformed'
TORQUE_NOT_FINITE = 'torque not finite'
MODEL_CHANGED = 'model changed'
CONTACT = 'contact'
OUTSIDE = 'from outside'
GATE = 'gate'
NO_STATE = 'no state'   # of a refusal only

# After one of these the joint state is still valid, and so is the torque that balances gravity. A
# clock that was set has been set for the stamps too; if not, the next joint state is a fault.
STATE_IS_TRUSTED = frozenset(
    {CLOCK, POSITION, VELOCITY, OTHER_PUBLISHER, REFERENCE_STALE, TORQUE_MALFORMED,
     TORQUE_NOT_FINITE, CONTACT, OUTSIDE})


class Fault(NamedTuple):
    """The reason for refusing a torque."""

    kind: str    # one of the above
    text: str    # which joint or value, and by how much

    @property
    def trusts_state(self) -> bool:
        """Whether the joint state is still valid."""
        return self.kind in STATE_IS_TRUSTED


class Refused(DynamicsError):
    """The gate cannot be enabled; the message says why.

    :ivar kind: kind of a fault, or 'limits unknown', 'no model', 'no state', 'decaying'.
    """

    def __init__(self, kind: str, text: str) -> None:
        self.kind, self.text = kind, text
        super().__init__(text)

    def __reduce__(self) -> tuple:
        return Refused, (self.kind, self.text)
