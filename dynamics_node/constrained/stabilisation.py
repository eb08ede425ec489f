"""Compute Baumgarte stabilisation: accelerations that reduce constraint drift."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from dynamics_node.constrained.rows import ConstraintRows

# (alpha, beta) [1/s]; None: the constraints may drift
Stabilisation: TypeAlias = Sequence[float] | np.ndarray | None


def stabilised_gamma(found: ConstraintRows, v: np.ndarray,
                     stabilisation: Stabilisation = None) -> np.ndarray:
    r"""Return gamma_s of A a + gamma_s = 0, (m,).

    gamma_s = gamma + 2 alpha A v + beta^2 residual: the residual then decays like a damped
    oscillator, critically damped for alpha = beta. Without stabilisation gamma alone: an existing
    drift stays.

    :param found: ConstraintRows (residual, A, gamma) at the state.
    :param stabilisation: (alpha, beta) [1/s], or None for none.

    Baumgarte 1972.
    """
    if stabilisation is None:
        return found.gamma
    alpha, beta = stabilisation
    return found.gamma + (2.0 * alpha) * (found.A @ v) + (beta * beta) * found.residual
