"""Compute the greatest fixed step that soft contacts permit."""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.simulation.friction_stiffness import STABLE


def check_contact_stiffness(points: np.ndarray, mass_matrix_inverse: np.ndarray,
                            stiffness: np.ndarray, damping: np.ndarray, step: float) -> None:
    """Raise if a fixed step is too long for the springs or dampers of soft contacts.

    While all points touch, r'' = -W (k r + c r') with W = J M^-1 J': the springs have the angular
    frequencies sqrt(eigenvalues of W k), the dampers the rates eigenvalues of W c.

    :param points: Jacobians J of all points, (.., 3 k, nv).
    :param mass_matrix_inverse: inverse mass matrices of the initial states, (.., nv, nv).
    :param stiffness, damping: one per contact, (k,).
    """
    W = points @ mass_matrix_inverse @ points.swapaxes(-1, -2)
    spring, damper = (_greatest(W, np.repeat(np.sqrt(each), 3)) for each in (stiffness, damping))
    fastest = max(np.sqrt(max(spring, 0.0)), damper)
    if step * fastest > STABLE:
        what = 'damping' if damper >= fastest else 'stiffness'
        raise DynamicsError(
            f'step is {step:.6g} s; the {what} of the contacts has a rate of {fastest:.3g} /s, for '
            f"which 'rk4' needs {STABLE / fastest:.2g} s or less: use method 'radau', or less "
            f'{what}')


def _greatest(W: np.ndarray, root: np.ndarray) -> float:
    return float(np.linalg.eigvalsh(root[:, None] * W * root).max(initial=0.0))
