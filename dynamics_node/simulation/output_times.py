"""Simulate over all output times."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from dynamics_node.simulation.torque_source import TorqueFunction

Progress = Callable[[float, str], None]


class SimulatedMotion(NamedTuple):
    """The states at the output times, and the torques there."""

    time: np.ndarray   # (T,) [s]
    q: np.ndarray      # (T, nq), or (N, T, nq) of a batch
    v: np.ndarray      # (T, nv)
    tau: np.ndarray    # (T, nv), without external wrenches and constraint forces


class Integrator(Protocol):
    """What leads from one output time to the next."""

    def advance(self, start: float, end: float, q: np.ndarray, v: np.ndarray
                ) -> tuple[np.ndarray, np.ndarray]:
        """Return (q, v) at the time `end` from those at `start`."""


def simulate(integrator: Integrator, torque: TorqueFunction, q: np.ndarray, v: np.ndarray,
             time: np.ndarray, progress: Progress | None) -> SimulatedMotion:
    """Return the SimulatedMotion from the state q, v at time[0].

    :param progress: called after each interval with the share of the time and a text.
    """
    times = time.tolist()
    states = [(q, v, torque(times[0], q, v))]
    for start, end in zip(times, times[1:]):
        q, v = integrator.advance(start, end, q, v)
        states.append((q, v, torque(end, q, v)))
        if progress is not None:
            progress((end - times[0]) / (times[-1] - times[0]), f't = {end:.6g} s')
    # output times are the last axis but one, after that of a batch
    return SimulatedMotion(time, *(np.stack(part, axis=-2) for part in zip(*states)))
