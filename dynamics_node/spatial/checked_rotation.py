"""Check the rotation matrix in an argument, and remove its rounding."""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.spatial import so3

ORTHONORMAL = 1e-6  # greatest |R R' - 1| that is accepted
EXACT = 1e-12       # up to this a matrix is used unchanged; others are orthonormalised


def checked_rotation(name: str, R: np.ndarray,
                     error: type[DynamicsError] = DynamicsError) -> np.ndarray:
    """Return a finite matrix (3, 3), orthonormalised; raise an error if it is not a rotation.

    Computed in Python floats, a fraction of the time of array operations.

    :param name: of the argument that holds the matrix, for the error message.
    :param error: its class.
    """
    a, b, c = R.tolist()
    off = max(abs(_dot(a, a) - 1.0), abs(_dot(b, b) - 1.0), abs(_dot(c, c) - 1.0),
              abs(_dot(a, b)), abs(_dot(b, c)), abs(_dot(c, a)))
    volume = (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
              + a[2] * (b[0] * c[1] - b[1] * c[0]))
    if not off <= ORTHONORMAL or volume < 0.0:
        raise error(f"{name} is not a rotation: R R' differs from 1 by {off:.3g}, expected at most "
                    f'{ORTHONORMAL:g}, and its determinant is {volume:.3g}, expected +1')
    return R if off <= EXACT else so3.from_quaternion(so3.to_quaternion(R))


def _dot(a: list[float], b: list[float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
