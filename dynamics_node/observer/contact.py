"""Detect a contact from external torques, with hysteresis in level and time."""

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import at_least_zero, check_floats, finite
from dynamics_node.errors import DynamicsError
from dynamics_node.observer.momentum import per_dof

HYSTERESIS = 0.5
SET_TIME, CLEAR_TIME = 0.005, 0.1  # [s]


class ContactFlag:
    """Detect contact: a joint's external torque has been beyond its threshold for `set_time`.

    A contact ends when every joint has been within `hysteresis` times its threshold for
    `clear_time`.

    :ivar contact: whether there is one now.
    :ivar joints: mask of the joints beyond their threshold, or, during contact, beyond `hysteresis`
        times their threshold, (nv,).
    """

    def __init__(self, nv: int, thresholds: ArrayLike, hysteresis: float = HYSTERESIS,
                 set_time: float = SET_TIME, clear_time: float = CLEAR_TIME) -> None:
        """Begin without a contact.

        :param thresholds: one number or (nv,) [N m or N]; 0: that joint is ignored.
        :param hysteresis: from 0 to 1.
        :param set_time, clear_time: see above [s].
        """
        thresholds = per_dof('thresholds', thresholds, nv)
        if (thresholds < 0.0).any():
            raise DynamicsError(f'thresholds has {thresholds.min():g}; expected numbers not below '
                                'zero')
        hysteresis = float(finite('hysteresis', hysteresis, ()))
        if not 0.0 <= hysteresis <= 1.0:
            raise DynamicsError(f'hysteresis is {hysteresis:g}; expected 0 to 1')
        self._enter = np.where(thresholds > 0.0, thresholds, np.inf)
        self._leave = np.where(thresholds > 0.0, hysteresis * thresholds, np.inf)
        self.set_time = at_least_zero('set_time', set_time)
        self.clear_time = at_least_zero('clear_time', clear_time)
        self.reset()

    def reset(self) -> None:
        """Begin anew without a contact."""
        self.contact, self._lasted = False, 0.0
        self.joints: np.ndarray = np.zeros(len(self._enter), dtype=bool)

    def step(self, torque: ArrayLike, dt: float) -> bool:
        """Return the flag after an external torque, dt seconds after the last one, (nv,)."""
        if type(torque) is not np.ndarray or torque.shape != self._enter.shape or (
                torque.dtype.kind != 'f'):
            torque = check_floats('torque', torque, len(self._enter))
        if type(dt) is not float:
            dt = float(finite('dt', dt, ()))
        within = np.abs(torque) <= (self._leave if self.contact else self._enter)
        self.joints = ~within   # true for nan
        beyond = bool(self.joints.any())
        if beyond is self.contact:
            self._lasted = 0.0
        else:
            self._lasted += dt
            if self._lasted >= (self.set_time if beyond else self.clear_time):
                self.contact, self._lasted = beyond, 0.0
        return self.contact
