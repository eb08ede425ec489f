"""Define the law of friction that is fitted to a joint, and its columns of the regressor."""

from typing import NamedTuple

import numpy as np


class FrictionLaw(NamedTuple):
    """Terms of the friction of a joint beside damping and Coulomb friction, and their speeds."""

    friction_speed: float                 # over which s(v) changes its sign [rad/s or m/s]
    stribeck_speed: float | None = None   # None: no Stribeck friction
    asymmetric: bool = False              # whether friction differs with the direction of motion

    def __str__(self) -> str:
        parts = [f'friction_speed {self.friction_speed:g}']
        parts += [] if self.stribeck_speed is None else [f'stribeck_speed {self.stribeck_speed:g}']
        return ', '.join([*parts, *(['asymmetric'] if self.asymmetric else [])])


def smoothed_sign(friction_speed: float, v: np.ndarray) -> np.ndarray:
    """Return s(v), as in `algorithms.friction.friction_torque`."""
    return v / np.sqrt(v * v + friction_speed ** 2)


def stribeck_column(sign: np.ndarray, v: np.ndarray, stribeck_speed: float) -> np.ndarray:
    """Return what multiplies Stribeck friction, as in `algorithms.friction.friction_torque`."""
    return sign / (1.0 + (v / stribeck_speed) ** 2)
