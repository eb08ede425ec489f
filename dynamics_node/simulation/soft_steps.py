"""Integrate the motion on soft contacts, whose touch points are a state.

The touch points are constant during a step and follow the points of the robot at its end. No force
jumps there: a point that sticks keeps its touch point, and a point that slides has the greatest
force of friction before and after.
"""

from collections.abc import Callable

import numpy as np

from dynamics_node.simulation.output_times import Integrator
from dynamics_node.simulation.runge_kutta import steps_between


class SoftSteps:
    """Advance states by another integrator, and the touch points after at most `step` [s]."""

    def __init__(self, integrator: Integrator, follow: Callable[[np.ndarray, np.ndarray], None],
                 step: float):
        """Take follow(q, v), which moves the touch points to those after this state."""
        self._integrator, self._follow, self._step = integrator, follow, step

    def advance(self, start: float, end: float, q: np.ndarray, v: np.ndarray
                ) -> tuple[np.ndarray, np.ndarray]:
        """Return (q, v) at the time `end` from those at `start`."""
        times = np.linspace(start, end, steps_between(start, end, self._step) + 1).tolist()
        for now, then in zip(times, times[1:]):
            q, v = self._integrator.advance(now, then, q, v)
            self._follow(q, v)
        return q, v
