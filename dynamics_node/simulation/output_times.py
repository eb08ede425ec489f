"""Simulate a motion from one output time to the next, by an Integrator."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from dynamics_node.simulation.torque_source import TorqueFunction

Progress = Callable[[float, str], None]


class SimulatedMotion(NamedTuple):
    """The states at the output times, and the torques and contact forces there."""

    time: np.ndarray   # (T,) [s]
    q: np.ndarray      # (T, nq), or (N, T, nq) of a batch
    v: np.ndarray      # (T, nv)
    tau: np.ndarray    # (T, nv), without external wrenches, constraint and contact forces
    contact_force: np.ndarray  # (T, k, 3) on the robot at k contacts, in world axes [N]
    touch: np.ndarray  # (T, k, 3) touch points of the contacts, nan where they are open [m]


class Contacts(NamedTuple):
    """Forces and touch points of k contacts at one time, as in SimulatedMotion."""

    force: np.ndarray
    touch: np.ndarray


ContactFunction = Callable[[float, np.ndarray, np.ndarray], Contacts]


def no_contacts(t: float, q: np.ndarray, v: np.ndarray) -> Contacts:
    """Return the Contacts of a robot without any."""
    none = np.zeros((*v.shape[:-1], 0, 3))
    return Contacts(none, none)


class Integrator(Protocol):
    """An integration method: advances a state from one output time to the next."""

    def advance(self, start: float, end: float, q: np.ndarray, v: np.ndarray
                ) -> tuple[np.ndarray, np.ndarray]:
        """Return (q, v) at the time `end` from those at `start`."""


def simulate(integrator: Integrator, torque: TorqueFunction, q: np.ndarray, v: np.ndarray,
             time: np.ndarray, progress: Progress | None,
             contacts: ContactFunction = no_contacts) -> SimulatedMotion:
    """Return the SimulatedMotion from the state q, v at time[0].

    :param contacts: f(t, q, v) -> Contacts, called once at each output time.
    :param progress: called after each interval with the share of the time and a text.
    """
    times = time.tolist()
    states = [(q, v, torque(times[0], q, v), *contacts(times[0], q, v))]
    for start, end in zip(times, times[1:]):
        q, v = integrator.advance(start, end, q, v)
        states.append((q, v, torque(end, q, v), *contacts(end, q, v)))
        if progress is not None:
            progress((end - times[0]) / (times[-1] - times[0]), f't = {end:.6g} s')
    q_parts, v_parts, torques, forces, touch = zip(*states)
    # output times are the axis after that of a batch
    return SimulatedMotion(time, *(np.stack(part, axis=-2) for part in (q_parts, v_parts, torques)),
                           *(np.stack(part, axis=-3) for part in (forces, touch)))
