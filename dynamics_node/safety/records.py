"""What goes into the gate, what comes out, what it says of itself."""

from collections import Counter
from enum import Enum
from typing import NamedTuple

import numpy as np


class State(Enum):
    """Where the gate is."""

    DISABLED = 'disabled'        # releases nothing
    RAMPING_IN = 'ramping in'    # from the effort before enable to the wanted torque
    ENABLED = 'enabled'          # releases the wanted torque, limited
    RAMPING_OUT = 'ramping out'  # disabled, on the way to the safe torque
    FAULT = 'fault'              # latched: on the way to the safe torque, then nothing


class Measured(NamedTuple):
    """The joints as they were measured."""

    stamp: float      # when, of the oldest entry [s], on the clock of the gate's `now`
    q: np.ndarray     # (nq,)
    v: np.ndarray     # (nv,)
    # The command that would change nothing, (nv,); nan where unknown. None if the efforts that the
    # driver measures mean something else than those it takes (currents; gravity in only one).
    effort: np.ndarray = None


class Proposal(NamedTuple):
    """A torque that somebody wants, and all that decides whether it may be had."""

    torque: np.ndarray               # wanted, (nv,) [N m or N]
    # The command that holds the joints still where they are, (nv,): the gravity torque, less what
    # the driver adds on its own.
    gravity: np.ndarray
    measured: Measured               # what both were computed from
    reference_age: float = None      # [s]; None if the mode follows none
    other_publisher: bool = False    # somebody else speaks on the command topic


class Release(NamedTuple):
    """A torque that may be published."""

    numbers: tuple        # nv floats [N m or N]
    names: tuple          # of its entries: after a change of model still those of the former
    limited: tuple = ()   # pairs (which limit, which joint)

    @property
    def effort(self):
        """The numbers as an array of their own, (nv,)."""
        return np.array(self.numbers)


class Status(NamedTuple):
    """What the gate says of itself."""

    state: State
    idle: bool            # nothing will be released until enable
    reason: str           # of the fault; '' without one
    released: int         # torques, since the beginning
    refused: Counter      # faults and refused enables, by kind
    limited: Counter      # limits met, by (which limit, which joint)
