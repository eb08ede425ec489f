"""Define the law of friction that is fitted to a joint, and its columns of the regressor.

The law is chosen in friction_choice.py; its values are fitted with all other parameters.
"""

from typing import NamedTuple

import numpy as np


class FrictionLaw(NamedTuple):
    """Terms of the friction of a joint beside damping and Coulomb friction, and their speeds."""

    friction_speed: float                 # at which s(v) = 0.71 [rad/s or m/s]
    stribeck_speed: float | None = None   # None: no Stribeck friction
    asymmetric: bool = False              # whether friction differs with the direction of motion

    def __str__(self) -> str:
        parts = [f'friction_speed {self.friction_speed:g}']
        parts += [] if self.stribeck_speed is None else [f'stribeck_speed {self.stribeck_speed:g}']
        return ', '.join([*parts, *(['asymmetric'] if self.asymmetric else [])])


def smoothed_sign(friction_speed: float, v: np.ndarray) -> np.ndarray:
    """Return s(v) = v / sqrt(v^2 + friction_speed^2), from -1 to 1, of the shape of v."""
    return v / np.sqrt(v * v + friction_speed ** 2)


def stribeck_column(sign: np.ndarray, v: np.ndarray, stribeck_speed: float) -> np.ndarray:
    """Return s(v) / (1 + (v / stribeck_speed)^2), the column of Stribeck friction; sign is s(v)."""
    return sign / (1.0 + (v / stribeck_speed) ** 2)
