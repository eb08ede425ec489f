"""Check that measurements used for a request exist and are not older than max_state_age."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.state.measured_state import NEVER, MeasuredSnapshot


class AgeLimit(NamedTuple):
    """The greatest age of a measurement, on the clock of the stamps."""

    clock: Callable[[], int]   # [ns]
    max_age: float             # [s]; 0: unlimited

    def age(self, stamp: int) -> float:
        """Return the age of a stamp [s]."""
        return (self.clock() - stamp) * 1e-9

    def stamp_of(self, measured: MeasuredSnapshot, joints: Sequence[int] | np.ndarray,
                 quantity: str) -> int | None:
        """Return the stamp of the oldest measurement among some joints [ns], None for no joints.

        :param joints: indices of joints.
        :param quantity: the missing quantity, for the error message.
        :raise DynamicsError: a joint was never measured, or longer ago than the limit.
        """
        if not len(joints):
            return None
        stamps = measured.stamps[joints]
        oldest = int(stamps.min())
        if oldest == NEVER:
            names = [measured.model.joints[k].name
                     for k, stamp in zip(joints, stamps) if stamp == NEVER]
            raise DynamicsError(f'no {quantity} of {", ".join(names)}: not in the request, and no '
                                'joint state with it has been received')
        if self.max_age and self.age(oldest) > self.max_age:
            joint = measured.model.joints[joints[int(stamps.argmin())]]
            raise DynamicsError(f"{quantity} of '{joint.name}' was measured "
                                f'{self.age(oldest):.3f} s ago, and max_state_age is '
                                f'{self.max_age:g} s (a parameter; 0: no limit)')
        return oldest
