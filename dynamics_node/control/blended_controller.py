"""Blend the torque of one controller into that of another, linearly in time.

Within one mode both get the same state and reference. If the torque is linear in what has changed,
such as the gains, the blend is the torque of the values in between. After a change of mode the old
controller keeps its own reference.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.control.blended_pose_spline import TaskMotionSample
from dynamics_node.control.controller import Controller
from dynamics_node.control.controller_with_reference import ControllerWithReference
from dynamics_node.control.spline import MotionSample


class BlendedController:
    """The blend of the torques of two controllers.

    A change during a blend waits for its end: only two torques are computed at any time. If several
    changes wait, only the newest one is made.
    """

    def __init__(self, old: Controller | ControllerWithReference,
                 new: Controller | ControllerWithReference, start: float,
                 duration: float) -> None:
        """Begin with the old controller.

        :param old: controller in effect; with a reference of its own if its mode has another one.
        :param start, duration: time at which the blend begins, and its length, above zero [s].
        """
        self._old, self._new = old, new
        self._next: Controller | ControllerWithReference | None = None
        self._next_duration: float | None = None
        self._start, self._duration, self._share = start, duration, 0.0

    @property
    def needs_reference(self) -> bool:
        """Whether torque() needs a motion, and v."""
        return self._old.needs_reference or self._new.needs_reference

    def replace_newest(self, controller: Controller) -> None:
        """Replace the newest controller by one with nearly the same torque; the blend continues."""
        if self._next is None:
            self._new = controller
        else:
            self._next = controller

    def then(self, controller: Controller | ControllerWithReference,
             duration: float | None = None) -> None:
        """Blend into another controller once this blend is complete.

        :param duration: [s], above zero; None: that of this blend.
        """
        self._next, self._next_duration = controller, duration

    def advance(self, now: float) -> bool:
        """Continue to a time [s]; return False once the newest controller alone is in effect."""
        self._share = min(max((now - self._start) / self._duration, 0.0), 1.0)
        if self._share < 1.0:
            return True
        if self._next is None:
            return False
        self._old, self._new, self._next = self._new, self._next, None
        self._start, self._share = now, 0.0
        self._duration = self._next_duration or self._duration
        return True

    def torque(self, q: ArrayLike, v: ArrayLike | None = None,
               motion: MotionSample | TaskMotionSample | None = None) -> np.ndarray:
        """Return the torque to send, (nv,), see Controller.torque."""
        return self._between(self._old.torque(q, v, motion), self._new.torque(q, v, motion))

    def holding_torque(self, q: ArrayLike) -> np.ndarray:
        """Return the torque that holds the arm where it is, see Controller.holding_torque."""
        return self._between(self._old.holding_torque(q), self._new.holding_torque(q))

    def _between(self, old: np.ndarray, new: np.ndarray) -> np.ndarray:
        return old + self._share * (new - old)


def blend_after(blend: BlendedController | None, old: Controller | ControllerWithReference,
                new: Controller | ControllerWithReference, now: float,
                duration: float) -> BlendedController:
    """Return the blend to a controller: it begins now, or after the one under way.

    :param blend: under way; None: the old controller alone is in effect.
    :param now, duration: present time, and length of the blend, above zero [s].
    """
    if blend is None:
        return BlendedController(old, new, now, duration)
    blend.then(new, duration)
    return blend
