"""Roll out motions whose torques are held over periods, as a sampled controller holds them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from dynamics_node import checks
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.simulation.output_times import Integrator
from dynamics_node.simulation.runge_kutta import steps_between
from dynamics_node.simulation.torque_source import Torque, TorqueFunction, torque_function

MOST_BYTES = 8_000_000_000   # of a result
# Motions of one thread that advance together. Of a 7-axis arm, two threads with 2000 each are 1.6
# times as fast as one thread with all, but with 250 each a third: short calls of NumPy make threads
# wait for Python's lock.
FEWEST, MOST = 1000, 2000


class Rollouts(NamedTuple):
    """N motions over T periods; of one motion without the axis of N."""

    time: np.ndarray   # (T + 1,) [s], from 0 on; (1,) with only_end, as the axes of time below
    q: np.ndarray      # (N, T + 1, nq)
    v: np.ndarray      # (N, T + 1, nv)
    tau: np.ndarray    # (N, T, nv), held over each period

    def part(self, rows: slice) -> 'Rollouts':
        """Return views of some motions."""
        return Rollouts(self.time, self.q[rows], self.v[rows], self.tau[rows])


class HeldTorques:
    """The torques of a rollout; called as f(t, q, v), those of the present period.

    :ivar periods: their number.
    :ivar motions: their number; None where all motions have the same torques, or a policy.
    :ivar policy: whether the torques are functions of the states.
    """

    def __init__(self, table: np.ndarray | TorqueFunction, periods: int):
        """Take torques (T, nv) or (N, T, nv), or a policy f(t, q, v)."""
        self._table: Any = table
        self.periods, self.policy = periods, callable(table)
        self.motions = len(table) if isinstance(table, np.ndarray) and table.ndim == 3 else None
        self._tau = np.empty(0)

    def part(self, rows: slice) -> 'HeldTorques':
        """Return the torques of some motions."""
        return HeldTorques(self._table if self.motions is None else self._table[rows], self.periods)

    def begin(self, k: int, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the torques of period k, which begins at the time t; hold them."""
        tau = self._table(t, q, v) if self.policy else self._table[..., k, :]
        self._tau = np.array(np.broadcast_to(tau, v.shape), order='C')
        return self._tau

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the torques of the present period."""
        return self._tau


def held_torques(torque: Torque, periods: int | None, nv: int) -> HeldTorques:
    """Return the HeldTorques of an array or a policy, checked.

    :param torque: (T, nv), the same for all motions; (N, T, nv); or a policy f(t, q, v).
    :param periods: T, needed for a policy.
    """
    if periods is not None:
        checks.whole('periods', periods, 1)
    if callable(torque):
        if periods is None:
            raise DynamicsError('periods is None; expected their number, as torque is a function')
        return HeldTorques(torque_function(torque, np.zeros(1), nv, None), periods)
    table = checks.check_reals('torque', torque, ('T', nv), ('N', 'T', nv))
    count = table.shape[-2]
    if count == 0 or periods not in (None, count):
        raise DynamicsError(f'torque has {count} periods; expected '
                            f'{"at least one" if periods is None else shown(periods)}')
    return HeldTorques(table, count)


def roll_out(integrator_of: Callable[[TorqueFunction], Integrator], torques: HeldTorques,
             period: float, q: np.ndarray, v: np.ndarray, only_end: bool, threads: int
             ) -> Rollouts:
    """Return the Rollouts from the states q, v.

    :param integrator_of: f(torques) -> Integrator, of any number of motions.
    :param only_end: keep the last state of each motion, and its last torque.
    :param threads: each advances FEWEST to MOST motions at a time; 1: all advance together.
    :raise DynamicsError: the result is too large, or a motion diverges.
    """
    found = _empty(torques.periods, period, q, v, only_end)
    if threads == 1 or v.ndim == 1 or len(v) < 2 * FEWEST:
        _fill(integrator_of(torques), torques, period, q, v, found)
        return found
    together = min(max(-(-len(v) // threads), FEWEST), MOST)

    def fill(start: int) -> None:
        rows = slice(start, start + together)
        some = torques.part(rows)
        with np.errstate(over='ignore', invalid='ignore'):   # is a setting of each thread
            _fill(integrator_of(some), some, period, q[rows], v[rows], found.part(rows))
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(fill, range(0, len(v), together)):
            pass
    return found


def same_in_each_period(period: float, step: float) -> float:
    """Return a step that divides all periods into the same number of parts, at most `step` long.

    For n parts the result is period / (n - 1/2), of which an Integrator of equal steps makes n
    steps. With period / n, rounding in the times of a late period could add a step to it.
    """
    return period / (steps_between(0.0, period, step) - 0.5)


def _empty(periods: int, period: float, q: np.ndarray, v: np.ndarray, only_end: bool) -> Rollouts:
    """Return Rollouts to be filled."""
    states, torques = (1, 1) if only_end else (periods + 1, periods)
    shapes = [(*v.shape[:-1], count, each.shape[-1])
              for count, each in ((states, q), (states, v), (torques, v))]
    size = sum(8.0 * np.prod(shape, dtype=float) for shape in shapes)
    if size > MOST_BYTES:
        raise DynamicsError(f'the motions take {size / 1e9:.3g} GB; expected at most '
                            f'{MOST_BYTES / 1e9:g} GB: fewer at a time, or only_end=True')
    return Rollouts(period * np.arange(periods + 1 - states, periods + 1), *map(np.empty, shapes))


def _fill(integrator: Integrator, torques: HeldTorques, period: float, q: np.ndarray, v: np.ndarray,
          found: Rollouts) -> None:
    """Write the motions from the states q, v into `found`."""
    last = found.tau.shape[-2] - 1   # 0 if only the end is kept
    found.q[..., 0, :], found.v[..., 0, :] = q, v
    for k in range(torques.periods):
        found.tau[..., min(k, last), :] = torques.begin(k, k * period, q, v)
        q, v = integrator.advance(k * period, (k + 1) * period, q, v)
        place = min(k + 1, found.q.shape[-2] - 1)
        found.q[..., place, :], found.v[..., place, :] = q, v
