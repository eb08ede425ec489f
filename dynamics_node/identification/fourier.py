r"""How does a joint move that starts and ends at rest and is smooth in between?

    q(t) = center + sum_k sine_k sin(k w t) + cosine_k cos(k w t),    w = 2 pi / period,

a finite Fourier series (Swevers et al. 1997): periodic, of limited bandwidth, with derivatives that
are known exactly. Velocity and acceleration are zero at t = 0 and at every whole period, if

    sum_k k sine_k = 0    and    sum_k k^2 cosine_k = 0.
"""

from typing import NamedTuple

import numpy as np


class Fourier(NamedTuple):
    """A periodic motion of all joints."""

    joint_names: tuple
    period: float          # [s]
    center: np.ndarray     # (nv,) [rad or m]
    sine: np.ndarray       # (harmonics, nv) [rad or m]
    cosine: np.ndarray     # (harmonics, nv) [rad or m]

    def sample(self, time):
        """Return (q, v, a) at some times, (N, nv) each."""
        k = 2.0 * np.pi / self.period * np.arange(1, len(self.sine) + 1)
        phase = np.multiply.outer(time, k)
        s, c = np.sin(phase), np.cos(phase)
        return (self.center + s @ self.sine + c @ self.cosine,
                (c * k) @ self.sine - (s * k) @ self.cosine,
                -(s * k ** 2) @ self.sine - (c * k ** 2) @ self.cosine)

    @property
    def start(self):
        """Where the motion begins and ends, (nv,): bring the robot there first."""
        return self.center + self.cosine.sum(axis=0)

    def scaled(self, factor):
        """Return the motion with other amplitudes about the same centre."""
        return self._replace(sine=factor * self.sine, cosine=factor * self.cosine)


def at_rest(harmonics):
    """Return (sine, cosine), bases of all amplitudes that begin at rest, (harmonics, free) each.

    The free numbers of sine count velocities, those of cosine too: each harmonic k is divided by k.
    """
    k = np.arange(1, harmonics + 1, dtype=float)
    return _orthogonal_to(np.ones(harmonics)) / k[:, None], _orthogonal_to(k) / k[:, None]


def _orthogonal_to(row):
    return np.linalg.svd(row[None])[2][1:].T
