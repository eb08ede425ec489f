"""Integrate the motion on rigid contacts: impacts where points reach the ground.

Between events the closed contacts are constraints. After each step, an open point below the ground
that moves down, or a closed contact that pulls, is an event; its time is found by bisection. A
point that reaches the ground gets the velocity after an impact, together with all closed contacts;
then the contacts that push are closed and the others open.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from dynamics_node.constrained.pushing_contacts import Pushed, pushing_contacts, rounding
from dynamics_node.errors import DynamicsError
from dynamics_node.simulation.output_times import Integrator
from dynamics_node.simulation.runge_kutta import steps_between

DEEP = 1e-9       # depth of a point at which it has reached the ground [m]
NEAR = 1e-6       # a point no higher than this takes part in an impact [m]
RESTING = 1e-3    # a slower impact is plastic, so that bounces end [m/s]
HALVINGS = 30     # of a step, to find the time of an event: 1e-12 s in a step of 1 ms
MOST_EVENTS = 1000  # in a step


class Heights(NamedTuple):
    """The points of k contacts above the ground."""

    gap: np.ndarray   # (k,) [m]
    rate: np.ndarray  # (k,) [m/s]


class Ground(Protocol):
    """The equations of a robot on rigid contacts; `closed` are numbers of contacts."""

    restitution: np.ndarray  # (k,)

    def heights(self, q: np.ndarray, v: np.ndarray) -> Heights:
        """Return the Heights of all points."""

    def pushed(self, t: float, q: np.ndarray, v: np.ndarray, closed: tuple[int, ...]) -> Pushed:
        """Return forces [N] and accelerations [m/s^2] of all contacts."""

    def impact(self, q: np.ndarray, v: np.ndarray, closed: tuple[int, ...],
               restitution: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocity after an impact (nv,) and the normal impulses of all contacts."""


class RigidSteps:
    """Advance states by steps of at most `step` [s], and handle the events of contacts."""

    def __init__(self, ground: Ground, integrator: Callable[[tuple[int, ...]], Integrator],
                 step: float):
        """Take integrator(closed), of the motion with these contacts closed."""
        self.closed: tuple[int, ...] = ()
        self._ground, self._integrator, self._step = ground, integrator, step

    def start(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Close the contacts of the initial state; return its velocity, after an impact if any.

        A point that rests on the ground and sticks, but is given a sideways velocity, stops.
        """
        gap, rate = self._ground.heights(q, v)
        resting = (gap < NEAR) & (np.abs(rate) < NEAR)
        if resting.any():
            v, _ = self._after_impact(q, v, rate, resting)
            resting &= np.abs(self._ground.heights(q, v).rate) < NEAR
        self.closed = tuple(np.flatnonzero(resting).tolist())
        return self._settled(t, q, v)

    def advance(self, start: float, end: float, q: np.ndarray, v: np.ndarray
                ) -> tuple[np.ndarray, np.ndarray]:
        """Return (q, v) at the time `end` from those at `start`."""
        times = np.linspace(start, end, steps_between(start, end, self._step) + 1).tolist()
        for now, then in zip(times, times[1:]):
            q, v = self._step_with_events(now, then, q, v)
        return q, v

    def _step_with_events(self, start: float, end: float, q: np.ndarray, v: np.ndarray
                          ) -> tuple[np.ndarray, np.ndarray]:
        t = start
        for _ in range(MOST_EVENTS):
            after = self._integrator(self.closed).advance(t, end, q, v)
            if not self._is_event(end, *after):
                return after
            t, q, v = self._first_event(t, end, q, v)
            v = self._settled(t, q, v)
        raise DynamicsError(f'contacts open and close {MOST_EVENTS} times between t = {start:.6g} '
                            f'and {end:.6g} s; expected a restitution of 0, or a SoftContact')

    def _is_event(self, t: float, q: np.ndarray, v: np.ndarray) -> bool:
        """Return whether a point is below the ground and moves down, or a contact pulls."""
        gap, rate = self._ground.heights(q, v)
        is_open = np.ones(len(gap), dtype=bool)
        is_open[list(self.closed)] = False
        if (is_open & (gap < -DEEP) & (rate < 0.0)).any():
            return True
        normal = self._ground.pushed(t, q, v, self.closed).normal
        return bool((normal < -rounding(normal)).any())

    def _first_event(self, start: float, end: float, q: np.ndarray, v: np.ndarray
                     ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return (t, q, v) just after the first event."""
        integrator, before, after = self._integrator(self.closed), 0.0, end - start
        for _ in range(HALVINGS):
            half = 0.5 * (before + after)
            if self._is_event(start + half, *integrator.advance(start, start + half, q, v)):
                after = half
            else:
                before = half
        return start + after, *integrator.advance(start, start + after, q, v)

    def _settled(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the velocity after an impact, if a point hits the ground; set `closed`."""
        gap, rate = self._ground.heights(q, v)
        hits = (gap < NEAR) & (rate < 0.0)
        hits[list(self.closed)] = False
        candidates = self.closed
        if hits.any():
            v, candidates = self._after_impact(q, v, rate, hits)
        self.closed = pushing_contacts(
            candidates, lambda closed: self._ground.pushed(t, q, v, closed))
        return v

    def _after_impact(self, q: np.ndarray, v: np.ndarray, rate: np.ndarray, hits: np.ndarray
                      ) -> tuple[np.ndarray, tuple[int, ...]]:
        """Return (velocity, numbers of the contacts that stay on the ground)."""
        bounce = np.where(hits & (rate < -RESTING), self._ground.restitution, 0.0)

        def pushed(closed: tuple[int, ...]) -> Pushed:
            after, impulse = self._ground.impact(q, v, closed, bounce)
            # Newton's law: a point that takes no impulse leaves no slower than it would bounce
            return Pushed(impulse, self._ground.heights(q, after).rate + bounce * rate)
        struck = pushing_contacts((*self.closed, *np.flatnonzero(hits).tolist()), pushed)
        after, _ = self._ground.impact(q, v, struck, bounce)
        return after, tuple(k for k in struck if bounce[k] == 0.0)
