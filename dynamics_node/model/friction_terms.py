"""Define the friction of joints beyond damping and Coulomb friction: Stribeck and asymmetric terms.

The law with all terms is in algorithms/friction.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

STRIBECK_SPEED = 0.1   # [rad/s or m/s] where none is given
AMOUNTS = ('stribeck', 'friction_asymmetry', 'damping_asymmetry')   # zero: no such term


class FrictionTerms(NamedTuple):
    """Further terms of joint friction, one entry per degree of freedom, (nv,) each."""

    stribeck: np.ndarray             # friction above Coulomb's near rest [N m or N]
    stribeck_speed: np.ndarray       # at which half of it is left [rad/s or m/s]
    friction_asymmetry: np.ndarray   # half of Coulomb friction forwards minus backwards [N m or N]
    damping_asymmetry: np.ndarray    # half of damping forwards minus backwards [N m s/rad or N s/m]
    friction_speed: np.ndarray       # in place of that of the model [rad/s or m/s]

    @classmethod
    def none(cls, nv: int, friction_speed: float) -> FrictionTerms:
        """Return terms that are all zero."""
        zero = np.zeros(nv)
        return cls(zero, np.full(nv, STRIBECK_SPEED), zero.copy(), zero.copy(),
                   np.full(nv, friction_speed))

    @property
    def active(self) -> np.ndarray:
        """(nv,) booleans: degrees of freedom with at least one of the terms."""
        return np.any([getattr(self, key) != 0.0 for key in AMOUNTS], axis=0)
