"""Make bodies that differ from those of a URDF, and are consistent."""

import numpy as np

from dynamics_node.identification.pseudo_inertia import pseudo_inertia, ten_of, upper_cholesky


def other_body(ten, rng, spread=0.3, shear=0.0):
    """Return ten parameters: mass off by up to `spread`, size by 15 %, centre by 2 cm.

    With P = m U U' the columns of U are moved, so every result is consistent.
    """
    U = upper_cholesky(pseudo_inertia(ten))
    mass, U = U[3, 3] ** 2, U / U[3, 3]
    mass *= 1.0 + rng.uniform(-spread, spread)
    U[range(3), range(3)] *= np.exp(rng.uniform(-0.15, 0.15, 3))
    U[[0, 1, 0], [1, 2, 2]] += shear * rng.normal(size=3) if shear else 0.0
    U[:3, 3] += rng.uniform(-0.02, 0.02, 3)
    return ten_of(mass * (U @ U.T))
