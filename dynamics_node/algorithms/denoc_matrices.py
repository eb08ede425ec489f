"""Compute the decoupled natural orthogonal complements (Saha 1999, eq. 13 to 22) as matrices.

Twists of all bodies are one vector t = N v, N = N_l N_d, six rows per body in the order of
model.bodies: (omega, velocity of the centre of mass), in world axes. N_l depends on where the
bodies are, N_d on the joints; N is a complement of the constraint forces, which do no work:

    N' (M dt/dt + dM/dt t) = N' w.

Here for a tree: block (i, j) of N_l is zero unless j is i or an ancestor of i. Mimic joints share
the column of their coordinate in N_d. Rotors (armature) are not bodies: the mass matrix is
N' M N + diag(armature).
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.denoc import composites, links_at, propagation
from dynamics_node.model.model import Model


class DenocMatrices(NamedTuple):
    """The matrices of t = N v and N' (M dt/dt + dM/dt t) = N' w; b bodies, batch axes first."""

    N_l: np.ndarray        # (6b, 6b) twist propagation, lower triangular (17)
    N_d: np.ndarray        # (6b, nv) joint-rate propagation, block diagonal (17)
    M: np.ndarray          # (6b, 6b) generalised mass, block diagonal (2)
    M_rate: np.ndarray     # (6b, 6b) dM/dt, where dM/dt t are the gyroscopic moments (8), (10)
    twist: np.ndarray      # (6b,) t (16)
    wrench: np.ndarray     # (6b,) w, of gravity and external wrenches at the centres of mass
    composite: np.ndarray  # (6b, 6b) N_l' M N_l, masses of the bodies with all they carry (22)

    @property
    def N(self) -> np.ndarray:
        """The natural orthogonal complement N_l N_d, (6b, nv) (16)."""
        return self.N_l @ self.N_d


def denoc_matrices(model: Model, q: np.ndarray, v: np.ndarray,
                   wrenches: np.ndarray | None = None) -> DenocMatrices:
    """Return the DenocMatrices of a state.

    :param wrenches: (bodies, 6) as for `inverse_dynamics`.
    """
    links = links_at(model, q, v, wrenches)
    carried = composites(model, links)[0]
    b = len(links)
    N_l, M, M_rate, composite = (_blocks(b) for _ in range(4))
    rates = [[0.0] * model.nv for _ in range(6 * b)]
    for i, (body, link) in enumerate(zip(model.bodies, links)):
        N_l[i][i], M[i][i], M_rate[i][i], composite[i][i] = (np.eye(6), link.M, link.M_rate,
                                                             carried[i])
        for row, values in zip(rates[6 * i:], link.p):
            row[body.v] = values
        for j in model.ancestors(i):
            N_l[i][j] = B = propagation(link, links[j])[0]                    # (17)
            composite[i][j], composite[j][i] = carried[i] @ B, B.T @ carried[i]  # (22)
    wide = [np.block(blocks) if b else np.zeros((0, 0)) for blocks in (N_l, M, M_rate, composite)]
    N_d = np.array(rates).reshape(6 * b, model.nv)
    return DenocMatrices(wide[0], N_d, wide[1], wide[2], wide[0] @ (N_d @ v),
                         np.concatenate([np.zeros(0), *(link.w for link in links)]), wide[3])


def _blocks(b: int) -> list:
    """Return b x b zero blocks of 6 x 6 numbers."""
    return [[np.zeros((6, 6))] * b for _ in range(b)]
