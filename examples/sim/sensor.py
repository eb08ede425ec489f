"""Simulate sensors: measured states with delay, noise or dropouts."""

from collections import deque
from typing import NamedTuple

import numpy as np


class Reading(NamedTuple):
    """A joint state."""

    stamp: int           # when it was so [ns]
    q: np.ndarray        # (n,)
    v: np.ndarray
    effort: np.ndarray


class Sensor:
    """Passes readings on; the same seed spoils the same sequence in the same way.

    :ivar lost: number of readings dropped.
    """

    def __init__(self, position_noise=0.0, velocity_noise=0.0, delay=0, drop=0.0, seed=0,
                 effort_noise=0.0, resolution=0.0):
        """Choose how readings are spoiled.

        :param position_noise: standard deviation [rad or m], velocity_noise: [rad/s or m/s].
        :param delay: a reading comes out this many readings after it went in, its stamp unchanged.
        :param drop: probability that a reading is lost on its way, below 1.
        :param effort_noise: standard deviation [N m or N], a number or (n,).
        :param resolution: positions are multiples of it [rad or m]; 0: of nothing.
        """
        if not (position_noise >= 0.0 and velocity_noise >= 0.0 and delay >= 0
                and 0.0 <= drop < 1.0 and np.min(effort_noise) >= 0.0 and resolution >= 0.0):
            raise ValueError(
                'noise, delay and resolution must not be negative, drop must be in [0, 1), got '
                f'{position_noise}, {velocity_noise}, {delay}, {drop}, {effort_noise}, '
                f'{resolution}')
        self.noise, self.resolution = (position_noise, velocity_noise, effort_noise), resolution
        self.drop, self.lost, self._seed = drop, 0, seed
        self._late = deque(maxlen=delay + 1)
        self.restart()

    def restart(self):
        """Begin the random sequences anew; readings on their way stay."""
        # One stream for each: what is lost does not depend on whether there is noise.
        streams = np.random.SeedSequence(self._seed).spawn(2)
        self._noise, self._luck = map(np.random.default_rng, streams)

    def __call__(self, reading):
        """Return what arrives when this reading is taken; None: nothing."""
        self._late.append(reading)
        lost = self.drop > self._luck.random()
        if len(self._late) < self._late.maxlen:
            return None
        oldest = self._late[0]
        q, v, effort = (x + sigma * self._noise.standard_normal(len(x)) if np.any(sigma) else x
                        for x, sigma in zip(oldest[1:], self.noise))
        if self.resolution:
            q = self.resolution * np.round(q / self.resolution)
        self.lost += lost
        return None if lost else oldest._replace(q=q, v=v, effort=effort)
