r"""Define periodic joint motions that start and end at rest: finite Fourier series.

    q(t) = center + sum_k sine_k sin(k w t) + cosine_k cos(k w t),    w = 2 pi / period,

(Swevers et al. 1997): periodic, of limited bandwidth, with exact derivatives. Velocity and
acceleration are zero at t = 0 and after each period, if

    sum_k k sine_k = 0    and    sum_k k^2 cosine_k = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Fourier(NamedTuple):
    """A periodic motion of all joints."""

    joint_names: tuple[str, ...]
    period: float          # [s]
    center: np.ndarray     # (nv,) [rad or m]
    sine: np.ndarray       # (harmonics, nv) [rad or m]
    cosine: np.ndarray     # (harmonics, nv) [rad or m]

    def sample(self, time: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (q, v, a) at some times (N,), (N, nv) each."""
        k = 2.0 * np.pi / self.period * np.arange(1, len(self.sine) + 1)
        phase = np.multiply.outer(time, k)
        s, c = np.sin(phase), np.cos(phase)
        return (self.center + s @ self.sine + c @ self.cosine,
                (c * k) @ self.sine - (s * k) @ self.cosine,
                -(s * k ** 2) @ self.sine - (c * k ** 2) @ self.cosine)

    @property
    def start(self) -> np.ndarray:
        """Positions at which the motion begins and ends, (nv,): move the robot there first."""
        return self.center + self.cosine.sum(axis=0)

    def scaled(self, factor: ArrayLike) -> Fourier:
        """Return the motion with its amplitudes scaled, about the same centre."""
        scale = np.asarray(factor, dtype=float)
        return self._replace(sine=scale * self.sine, cosine=scale * self.cosine)


def at_rest(harmonics: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (sine, cosine), bases of all amplitudes that start at rest, (harmonics, free) each.

    Each harmonic k is divided by k, so that coordinates in these bases scale velocities.
    """
    k = np.arange(1, harmonics + 1, dtype=float)
    return _orthogonal_to(np.ones(harmonics)) / k[:, None], _orthogonal_to(k) / k[:, None]


def _orthogonal_to(row: np.ndarray) -> np.ndarray:
    return np.linalg.svd(row[None])[2][1:].T
