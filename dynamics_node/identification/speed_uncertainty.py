"""Compute how much the unknown speeds of friction add to the deviations of its parameters.

friction_speed and stribeck_speed are chosen from the data too. An error of them changes damping,
Coulomb and Stribeck friction of the same joint. To first order, the torque has one more column per
speed, its derivative by that speed; the deviations with and without these columns have the ratio
that is returned.
"""

import numpy as np

from dynamics_node.identification.parameters import ParameterLayout, joint_columns
from dynamics_node.identification.recording import Recording

SAMPLES = 20_000   # at most, evenly over the recording
STEP = 1e-4        # of a speed, for its derivative
RIDGE = 1e-6       # of the size of a column


def speed_factors(layout: ParameterLayout, values: np.ndarray,
                  recording: Recording) -> np.ndarray:
    """Return the factor of the deviation of each parameter, (size,), at least 1."""
    factors = np.ones(layout.size)
    some = recording.rows(slice(None, None, 1 + len(recording.time) // SAMPLES))
    for k, (dof, law) in enumerate(zip(layout.dofs, layout.laws)):
        speeds = [field for field in ('friction_speed', 'stribeck_speed')
                  if getattr(law, field) not in (None, layout.friction_speed)]
        if speeds:
            own = layout.of_joint(k)
            columns = _columns(layout, k, some, dof)
            slopes = [_slope(layout, k, some, dof, field) @ values[own] for field in speeds]
            factors[own] = np.maximum(_deviations(np.column_stack([columns, *slopes]))[
                :columns.shape[1]] / _deviations(columns), 1.0)
    return factors


def _columns(layout: ParameterLayout, k: int, some: Recording, dof: int) -> np.ndarray:
    load = None if layout.load is None else np.zeros(len(some.time))
    return joint_columns(layout, k, some.v[:, dof], some.a[:, dof], load)


def _slope(layout: ParameterLayout, k: int, some: Recording, dof: int, field: str) -> np.ndarray:
    """Return the derivative of the columns of joint k by one of its speeds."""
    def at(factor: float) -> np.ndarray:
        laws = list(layout.laws)
        laws[k] = laws[k]._replace(**{field: factor * getattr(laws[k], field)})
        return _columns(layout._replace(laws=tuple(laws)), k, some, dof)
    speed = getattr(layout.laws[k], field)
    return (at(1.0 + STEP) - at(1.0 - STEP)) / (2.0 * STEP * speed)


def _deviations(A: np.ndarray) -> np.ndarray:
    """Return the standard deviations of a fit with the columns A, for noise of 1."""
    size = np.linalg.norm(A, axis=0)
    size = np.where(size > 0.0, size, 1.0)
    A = np.vstack([A / size, RIDGE * np.eye(len(size))])
    return np.sqrt(np.diag(np.linalg.inv(A.T @ A))) / size
