"""Define records that enter and leave the gate: Measured, Proposal, Release, State, Status."""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np


class State(Enum):
    """The state of the gate."""

    DISABLED = 'disabled'        # releases nothing
    RAMPING_IN = 'ramping in'    # from the effort before enable to the wanted torque
    ENABLED = 'enabled'          # releases the wanted torque, limited
    BRAKING = 'braking'          # disabled, braking the joints to rest
    RAMPING_OUT = 'ramping out'  # disabled, ramping to the safe torque
    FAULT = 'fault'              # latched: braking, ramping to the safe torque, then nothing


class Measured(NamedTuple):
    """A measured joint state."""

    stamp: float      # of the oldest entry [s], on the clock of the gate's `now`
    q: np.ndarray     # (nq,)
    v: np.ndarray     # (nv,)
    # The command that would change nothing, (nv,); nan where unknown. None if the meaning of the
    # efforts that the driver measures is not declared. Used by enable only.
    effort: np.ndarray | None = None
    # Returns the joint of the oldest entry, for messages; '' if all are of one time. None: unknown.
    oldest: Callable[[], str] | None = None


class Proposal(NamedTuple):
    """A wanted torque, and the data that decide whether it is released."""

    # Wanted, or of the brakes while Gate.braking, (nv,) [N m or N]; None if it is not computable.
    torque: np.ndarray | None
    # The command that holds the joints still where they are, (nv,): the gravity torque, less what
    # the driver adds on its own.
    gravity: np.ndarray
    measured: Measured               # that both were computed from
    reference_age: float | None = None# [s]; None if the mode follows none
    other_publisher: bool = False    # of the command topic or of ~/torque


class LastValid(NamedTuple):
    """What is known while there is no valid joint state."""

    seconds: float               # since the last valid one
    position: Sequence[float]    # of that one, nv entries
    v: Sequence[float]
    torque: Sequence[float]      # released last, nv entries [N m or N]
    braking: bool                # whether the torque of the prediction must be the one that brakes


# Returns the Proposal at the state that the model predicts, None if it cannot predict one.
Predict = Callable[[LastValid], Proposal | None]


class Release(NamedTuple):
    """A torque that may be published."""

    numbers: tuple[float, ...]   # nv entries [N m or N]
    names: tuple[str, ...]       # of its entries: after a change of model still the former ones
    limited: tuple[tuple[str, str], ...] = ()   # pairs (which limit, which joint)

    @property
    def effort(self) -> np.ndarray:
        """The numbers as a new array, (nv,)."""
        return np.array(self.numbers)


class Status(NamedTuple):
    """The status of the gate, for diagnostics."""

    state: State
    idle: bool            # nothing will be released until enable
    reason: str           # of the fault; '' without one
    released: int         # torques since the gate was made
    refused: Counter[str]   # faults and refused enables, by kind
    limited: Counter[tuple[str, str]]   # limits met, by (which limit, which joint)
    bridged: int = 0      # silences of the joint states that were bridged
